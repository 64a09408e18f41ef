internal import EventLog
internal import Postgres
internal import ServiceRuntime
package import Telemetry

/// Takes months out of the log whose events are all older than so many days: each is closed, the funnels are brought
/// level, the deliveries that would lose events are sealed, the losses are written down, and the partition is dropped.
/// What was cut short anywhere is taken up again by the next run.
package struct RetentionRun {
    let control: ProjectionControl

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

        package var description: String {
            switch self {
            case .stopped(let projections):
                "what a stopped projection has counted cannot be sealed: run bellwether projection resume "
                    + projections.map(\.name).joined(separator: " ") + " first"
            }
        }
    }

    /// Runs it, oldest month first; `report` is told of each month when it is through.
    package func run(
        days: Int, now: Timestamp, report: (Outcome) -> Void
    ) throws {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "retention", log: control.log)
        let stopped = try StoppedProjection.all(on: &connection)
        guard stopped.isEmpty else { throw Obstacle.stopped(stopped) }
        for candidate in try Retention.candidates(olderThan: days, now: now, on: &connection) {
            // Closed, or found to have new events: those keep it.
            _ = try Retention.close(candidate, on: &connection)
        }
        for closed in try Retention.closedMonths(on: &connection) {
            let level = try control.catchUp(to: closed.position)
            guard level.stopped.isEmpty else { throw Obstacle.stopped(level.stopped) }
            let sealed = try Sealing(month: closed.month).seal(on: &connection)
            try Retention.recordLosses(of: closed.month, on: &connection)
            let outcome = try Retention.drop(closed.month, until: .after(seconds: 10), on: &connection)
            if outcome == .dropped { try Sealing.forgetGone(on: &connection) }
            report(Outcome(month: closed.month, sealed: sealed, isDropped: outcome == .dropped))
        }
    }
}
