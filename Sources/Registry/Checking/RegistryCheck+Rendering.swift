internal import ServiceRuntime

extension RegistryCheck {
    /// For people: each finding with how often, since when, and what to do.
    package var text: String {
        var text = findings.map(\.text).joined()
        let counts = Finding.Severity.allCases.map { severity in
            "\(findings.count { $0.severity == severity }) \(severity.words)"
        }
        text +=
            "'\(app)' has \(categories) \(categories == 1 ? "category" : "categories") with \(buttons) "
            + "\(buttons == 1 ? "button" : "buttons") registered: \(counts.joined(separator: ", ")).\n"
        return text
    }

    /// For programs.
    package var json: String {
        let object: JSONObject = [
            "app": app, "categories": categories, "buttons": buttons, "clean": isClean,
            "findings": findings.map(\.object),
        ]
        return object.json
    }
}

extension Finding.Severity {
    fileprivate var words: String {
        switch self {
        case .unregistered: "unregistered"
        case .impossible: "impossible"
        case .warning: "to look at"
        }
    }
}

extension Finding {
    fileprivate var text: String {
        var what = category.isEmpty ? "(no category)" : category
        if let action { what += " / \(action)" }
        var text = "\(severity.rawValue): \(what): \(detail)"
        if let count {
            let unit = count == 1 ? (unit == .taps ? "tap" : "delivery") : unit.rawValue
            text += " (\(count) \(unit)\(since.map { ", since \($0)" } ?? ""))"
        }
        return String(printable: text) + "\n    " + advice + "\n"
    }

    fileprivate var object: JSONObject {
        [
            "severity": severity.rawValue, "kind": kind.rawValue, "category": category, "action_id": action,
            "count": count, "unit": count == nil ? nil : unit.rawValue, "since": since.map { "\($0)" },
            "detail": detail, "advice": advice,
        ]
    }
}
