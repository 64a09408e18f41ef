internal import EventLog
internal import Postgres
internal import ServiceRuntime
package import Telemetry

/// Takes months out of the log whose events are all older than so many days: each is closed, the funnels are brought
/// level, the deliveries that would lose events are sealed, the losses are written down, and the partition is dropped.
/// What was cut short anywhere is taken up again by the next run.
package struct RetentionRun {
    let control: ProjectionControl
    /// Deliveries that are sealed in one transaction, for which all steps wait.
    package var mostDeliveries: Int32 = 5_000
    /// For how many seconds the readers of a month are waited for.
    package var patience: Double = 10

    package init(_ control: ProjectionControl) {
        self.control = control
    }

    /// What became of a month.
    package struct Outcome: Sendable {
        package let month: CivilDate
        /// Deliveries that were sealed with it.
        package let sealed: Int
        /// False where somebody reads it: then it is dropped by the next run.
        package let isDropped: Bool
    }

    /// Why retention cannot go on.
    package enum Obstacle: Error, CustomStringConvertible {
        case stopped([StoppedProjection])
        /// These tables are of another version than this program's.
        case foreign([String])

        package var description: String {
            switch self {
            case .stopped(let projections):
                "what a stopped projection has counted cannot be sealed: run bellwether projection resume "
                    + projections.map(\.name).joined(separator: " ") + " first"
            case .foreign(let names):
                "what another version of this program has counted cannot be sealed: run bellwether rebuild "
                    + names.joined(separator: " ") + " first"
            }
        }
    }

    /// Runs it, oldest month first; `report` is told of each month when it is through.
    package func run(
        days: Int, now: Timestamp, report: (Outcome) -> Void
    ) throws {
        // Whole months are read on this one, and by other plans than single deliveries.
        var log = try LogSession.open(url: control.url, role: nil, purpose: "retention", log: control.log)
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "retention", log: control.log)
        try lookForObstacles(on: &connection)
        for candidate in try Retention.candidates(olderThan: days, now: now, on: &log) {
            // Closed, or found to have new events: those keep it.
            _ = try Retention.close(candidate, on: &log)
        }
        for closed in try Retention.closedMonths(on: &log) {
            _ = try control.catchUp(to: closed.position)
            try lookForObstacles(on: &connection)
            let sealed: Int
            do {
                sealed = try Sealing(month: closed, mostDeliveries: mostDeliveries).seal(on: &connection)
            } catch StepError.stopped {
                try lookForObstacles(on: &connection)
                throw StepError.stopped
            }
            try Retention.recordLosses(of: closed.month, on: &log)
            let outcome = try Retention.drop(closed.month, until: .after(seconds: patience), on: &log)
            report(Outcome(month: closed.month, sealed: sealed, isDropped: outcome == .dropped))
        }
        try SealedDeliveries.forgetGone(on: &connection)
    }

    /// Throws what there is.
    private func lookForObstacles(on connection: inout Connection) throws {
        let stopped = try StoppedProjection.all(on: &connection)
        guard stopped.isEmpty else { throw Obstacle.stopped(stopped) }
        let known = [(DeliveryTable.projector, DeliveryTable.version)] + Projectors.all.map { ($0.name, $0.version) }
        let foreign = try connection.query(
            """
            SELECT coalesce(p.name, known.name)
            FROM (
                SELECT p.name, p.version FROM projection.projector AS p JOIN projection.line AS l ON l.id = p.line
                WHERE l.state = 'live'
            ) AS p
            FULL JOIN unnest(\(known.map(\.0)), \(known.map(\.1))) AS known (name, version) USING (name, version)
            WHERE p.name IS NULL OR known.name IS NULL ORDER BY 1
            """)
        guard foreign.isEmpty else {
            throw Obstacle.foreign(Array(Set(try foreign.map { row in try row.get(0) })).sorted())
        }
    }
}
