package import Postgres
package import ServiceRuntime
package import Values

/// Whether the funnels contain what a report of a day has to show: everything that was committed before the end of the
/// day, or, while the day lasts, before the report was requested.
package struct Readiness: Sendable {
    /// The position that every projection must have reached in the log of each cell; outside a hub there is one log,
    /// ''.
    package let needed: [String: Int64]
    private let app: String

    /// Looks up what a report of this day of this app needs.
    package init(
        for day: CivilDate, of app: ReportedApp, on connection: inout Connection
    ) throws(PostgresError) {
        self.app = app.slug
        let isHub: Bool = try connection.query("SELECT to_regclass('hub.batches') IS NOT NULL")[0].get(0)
        var cells: [String] = []
        if isHub {
            for row in try connection.query("SELECT DISTINCT cell FROM hub.projections") {
                cells.append(try row.get(0))
            }
        }
        // Backwards from the head, since most reports are about recent days.
        var needed: [String: Int64] = [:]
        for cell in isHub ? cells : [""] {
            let batches: StaticString =
                isHub ? "hub.batches" : "(SELECT '' AS cell, batch, committed_at FROM analytics.batches) AS b"
            let rows = try connection.query(
                """
                SELECT batch FROM \(sql: batches) WHERE cell = \(cell)
                    AND committed_at < (\(day) + 1)::timestamp AT TIME ZONE \(app.timeZone)
                ORDER BY batch DESC LIMIT 1
                """)
            needed[cell] = try rows.first?.get(0) ?? 0
        }
        self.needed = needed
    }

    /// Waits until every projection runs and has reached the position. `waits` is called once, before the first pause.
    package func wait(
        until deadline: Deadline, on connection: inout Connection, waits: (NotReady) -> Void
    ) throws(ReadinessError) {
        var isTold = false
        while true {
            let backlog: NotReady?
            do { backlog = try lookOnce(on: &connection) } catch { throw .database(error) }
            guard let backlog else { return }
            // A projection that has stopped does not continue until somebody fixes the cause.
            if case .stopped = backlog { throw .notReady(backlog) }
            guard !deadline.hasPassed else { throw .notReady(backlog) }
            if !isTold { waits(backlog) }
            isTold = true
            _ = Lock(()).wait(until: min(deadline, .after(seconds: 0.1))) { _ in Bool?.none }
        }
    }

    /// What stands in the way now; nil when nothing does.
    private func lookOnce(on connection: inout Connection) throws(PostgresError) -> NotReady? {
        let projections: StaticString =
            needed[""] == nil ? "hub.projections" : "(SELECT '' AS cell, * FROM analytics.projections) AS p"
        let rows = try connection.query(
            """
            SELECT name, position, lag_seconds::float8, stopped_batch, stopped_because, cell FROM \(sql: projections)
            ORDER BY status = 'running', name <> 'deliveries', position, name
            """)
        guard let row = rows.first else { return nil }
        if let batch: Int64 = try row.optional(3) {
            return .stopped(name: try row.get(0), batch: batch, reason: try row.optional(4) ?? "")
        }
        var most: (position: Int64, needed: Int64, seconds: Double)?
        for row in rows {
            let (position, cell): (Int64, String) = (try row.get(1), try row.get(5))
            let needed = self.needed[cell] ?? 0
            if needed - position > most.map({ $0.needed - $0.position }) ?? 0 {
                most = (position, needed, try row.get(2))
            }
        }
        if let most { return .behind(position: most.position, needed: most.needed, seconds: most.seconds) }
        let zones = try connection.query("SELECT time_zone FROM analytics.apps WHERE app = \(app) AND days_moving")
        return try zones.first.map { zone throws(PostgresError) in .moving(app: app, timeZone: try zone.get(0)) }
    }
}

/// Why the funnels cannot be reported from yet.
package enum NotReady: Sendable, Hashable, CustomStringConvertible {
    case stopped(name: String, batch: Int64, reason: String)
    /// `seconds` is the age of the oldest missing batch.
    case behind(position: Int64, needed: Int64, seconds: Double)
    /// The app's time zone was changed, and its deliveries are being moved to the days of the new one.
    case moving(app: String, timeZone: String)

    package var description: String {
        switch self {
        case .stopped("deliveries", let batch, let reason):
            "all projections have stopped at batch \(batch): \(String(printable: reason)). "
                + "Fix the cause, then run bellwether rebuild"
        case .stopped(let name, let batch, let reason):
            "the projection \(String(printable: name)) has stopped at batch \(batch): \(String(printable: reason)). "
                + "Fix the cause, then run bellwether projection resume \(String(printable: name))"
        case .behind(let position, let needed, let seconds):
            "the funnels are \(String(counting: needed - position, "batch", "batches")) and "
                + "\(Int(saturating: seconds.rounded(.up))) s behind: "
                + "they are at position \(position), and the day needs \(needed)"
        case .moving(let app, let timeZone):
            "the deliveries of '\(app)' are being moved to the days of \(timeZone)"
        }
    }
}

/// Waiting for the funnels did not succeed.
package enum ReadinessError: DatabaseFailure, Sendable, CustomStringConvertible {
    case notReady(NotReady)
    case database(PostgresError)

    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }

    package var description: String {
        switch self {
        case .notReady(.stopped(let name, let batch, let reason)):
            "\(NotReady.stopped(name: name, batch: batch, reason: reason))"
        case .notReady(.moving(let app, let timeZone)):
            "\(NotReady.moving(app: app, timeZone: timeZone)). "
                + "Start bellwether serve, or run bellwether app set \(app) --time-zone \(timeZone), then try again"
        case .notReady(let behind):
            "\(behind). Start bellwether serve, or run bellwether project --once, then try again"
        case .database(let error): error.description
        }
    }
}
