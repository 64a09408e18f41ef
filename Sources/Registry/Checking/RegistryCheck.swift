package import Accounts
package import Postgres
package import Values

/// Compares what an app has registered with what its events tell.
package struct RegistryCheck: Sendable {
    package let app: String
    /// Categories and buttons that are registered now.
    package let categories: Int64
    package let buttons: Int64
    /// The worst first, then the most frequent.
    package let findings: [Finding]

    /// Whether nothing is unregistered or impossible.
    package var isClean: Bool { findings.allSatisfy { $0.severity == .warning } }

    /// How taps were made is read from the events that devices dated `since` or later; all else from the funnels, which
    /// have every day.
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
