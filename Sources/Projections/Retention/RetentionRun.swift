internal import Accounts
internal import EventLog
internal import Postgres
internal import ServiceRuntime
package import Values

/// Takes months out of the log whose events are all older than so many days: each is closed, the funnels are brought
/// level, the deliveries that would lose events are sealed, the losses are written down, and the partition is dropped.
/// Events whose clocks belong to no month go by the time of their receipt, and so does what was refused.
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

    /// What went by the time of its receipt.
    package struct Remainder: Sendable {
        /// Events whose device clock belongs to no month.
        package let strays: Int64
        /// Deliveries that were sealed with them.
        package let sealed: Int
        package let refused: Int

        package var isEmpty: Bool { strays == 0 && sealed == 0 && refused == 0 }
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
    @discardableResult
    package func run(
        days: Int, now: Timestamp, report: (Outcome) -> Void
    ) throws -> Remainder {
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
            let sealed = try seal(on: &connection) { sealing, connection in try sealing.seal(closed, on: &connection) }
            try Retention.recordLosses(of: closed.month, on: &log)
            let outcome = try Retention.drop(closed.month, until: .after(seconds: patience), on: &log)
            report(Outcome(month: closed.month, sealed: sealed, isDropped: outcome == .dropped))
        }
        let remainder = try dropRemainder(days: days, now: now, on: &connection)
        try SealedDeliveries.forgetGone(on: &connection)
        return remainder
    }

    private func dropRemainder(
        days: Int, now: Timestamp, on connection: inout Connection
    ) throws -> Remainder {
        guard let limit = Retention.limit(days: days, now: now) else {
            return Remainder(strays: 0, sealed: 0, refused: 0)
        }
        let refused = try Retention.forgetRefused(receivedBefore: limit, on: &connection)
        let found = try Strays.find(receivedBefore: limit, on: &connection)
        guard found.events > 0 else { return Remainder(strays: 0, sealed: 0, refused: refused) }
        _ = try control.catchUp(to: found.position)
        try lookForObstacles(on: &connection)
        let sealed = try seal(on: &connection) { sealing, connection in try sealing.sealStrays(on: &connection) }
        return Remainder(strays: try Strays.drop(on: &connection), sealed: sealed, refused: refused)
    }

    private func seal(
        on connection: inout Connection, _ body: (Sealing, inout Connection) throws -> Int
    ) throws -> Int {
        do {
            return try body(Sealing(mostDeliveries: mostDeliveries), &connection)
        } catch StepError.stopped {
            try lookForObstacles(on: &connection)
            throw StepError.stopped
        }
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
                SELECT p.name, p.version FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
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
