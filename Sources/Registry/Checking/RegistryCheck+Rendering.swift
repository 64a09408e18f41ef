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
        "{\"app\":\(String(json: app)),\"categories\":\(categories),\"buttons\":\(buttons),\"clean\":\(isClean),"
            + "\"findings\":[\(findings.map(\.json).joined(separator: ","))]}"
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

    fileprivate var json: String {
        "{\"severity\":\"\(severity.rawValue)\",\"kind\":\"\(kind.rawValue)\",\"category\":\(String(json: category)),"
            + "\"action_id\":\(action.map { String(json: $0) } ?? "null"),"
            + "\"count\":\(count.map { "\($0)" } ?? "null"),\"unit\":\(count == nil ? "null" : "\"\(unit.rawValue)\""),"
            + "\"since\":\(since.map { "\"\($0)\"" } ?? "null"),\"detail\":\(String(json: detail)),"
            + "\"advice\":\(String(json: advice))}"
    }
}
