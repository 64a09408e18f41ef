package import Accounts
package import Postgres
internal import ServiceRuntime
package import Values

/// Compares what an app has registered with what its events report.
package struct RegistryCheck: Sendable {
    package let app: String
    /// Categories and buttons that are registered now.
    package let categories: Int64
    package let buttons: Int64
    /// The worst first, then the most frequent.
    package let findings: [Finding]

    /// Whether nothing is unregistered or impossible.
    package var isClean: Bool { findings.allSatisfy { $0.severity == .warning } }

    /// Checks how taps were described in the events whose device time is `since` or later. All else is read from the
    /// funnels, which have every day.
    package static func run(
        of app: App, since: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> RegistryCheck {
        try connection.transaction(.repeatableReadOnly) { connection throws(PostgresError) in
            let counts = try connection.query(
                """
                SELECT
                    (SELECT count(*) FROM registry.registered_category WHERE app = \(app.id)),
                    (SELECT count(*) FROM registry.registered_button WHERE app = \(app.id))
                """)[0]
            var findings = try unregistered(app, on: &connection)
            findings += try contradictions(app, since: since, on: &connection)
            findings += try registeredOddly(app, on: &connection)
            findings += try shownOddly(app, on: &connection)
            let order = Finding.Severity.allCases
            let ranked = findings.enumerated().sorted { left, right in
                let ranks = (order.firstIndex(of: left.element.severity), order.firstIndex(of: right.element.severity))
                if let one = ranks.0, let other = ranks.1, one != other { return one < other }
                let counts = (left.element.count ?? 0, right.element.count ?? 0)
                return counts.0 == counts.1 ? left.offset < right.offset : counts.0 > counts.1
            }
            return RegistryCheck(
                app: app.slug, categories: try counts.get(0), buttons: try counts.get(1),
                findings: ranked.map(\.element))
        }
    }
}

extension RegistryCheck {
    /// For people: each finding with its count, its first day, and what to do.
    package var text: String {
        var text = findings.map(\.text).joined()
        let counts = Finding.Severity.allCases.map { severity in
            "\(findings.count { $0.severity == severity }) \(severity.words)"
        }
        text +=
            "'\(app)' has \(String(counting: categories, "category", "categories")) with "
            + "\(String(counting: buttons, "button", "buttons")) registered: \(counts.joined(separator: ", ")).\n"
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
