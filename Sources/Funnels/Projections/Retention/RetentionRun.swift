internal import Accounts
package import EventLog
internal import Postgres
internal import ServiceRuntime
package import Values

/// Removes the months from the log whose events are all older than some number of days. For each month it closes the
/// month, updates the funnels, seals the deliveries that would lose events, records the losses, and drops the
/// partition. Events whose clocks belong to no month, and rejected events, go by the time of their receipt. The next
/// run continues an interrupted one.
package struct RetentionRun {
    let control: ProjectionControl
    /// The most deliveries that one transaction seals. All steps wait for it.
    package var mostDeliveries: Int32 = 5_000
    /// For how many seconds to wait for readers of a month.
    package var patience: Double = 10

    package init(_ control: ProjectionControl) {
        self.control = control
    }

    /// What became of a month.
    package struct RemovedMonth: Sendable {
        package let month: CivilDate
        /// Deliveries that were sealed with the month.
        package let sealed: Int
        /// False if somebody reads it; then the next run drops it.
        package let isDropped: Bool
    }

    /// What was removed by the time of its receipt.
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
        /// The tables of these projections are of another version than this program's.
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

    /// Removes the months, oldest first. Calls `report` after each one.
    @discardableResult
    package func run(
        days: Int, now: Timestamp, report: (RemovedMonth) -> Void
    ) throws -> Remainder {
        let survey = try survey(days: days, now: now)
        for month in Retention.due([survey]) {
            _ = try Retention.close(month, surveys: [survey]) { _, candidate in try close(candidate) }
        }
        return try finish(days: days, now: now, report: report)
    }

    /// Looks which months there are. Throws the obstacle to removing any, if there is one.
    package func survey(days: Int, now: Timestamp) throws -> Retention.Survey {
        var projections = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "retention", log: control.log)
        try lookForObstacles(on: &projections)
        var log = try openLog()
        try Retention.requireNoMove(on: &log)
        return Retention.Survey(
            open: try Retention.standings(olderThan: days, now: now, on: &log),
            closed: try Retention.closedMonths(on: &log).map(\.month))
    }

    /// Closes a month. Returns false and closes nothing if new events keep it.
    package func close(_ candidate: Retention.Candidate) throws -> Bool {
        var log = try openLog()
        return try Retention.close(candidate, on: &log) != nil
    }

    /// Refuses events of a month that is gone in other cells, and that this one never had.
    package func refuse(_ month: CivilDate) throws {
        var log = try openLog()
        try Retention.refuse(month, on: &log)
    }

    /// Removes the closed months, oldest first, and what belongs to no month. Calls `report` after each one.
    package func finish(days: Int, now: Timestamp, report: (RemovedMonth) -> Void) throws -> Remainder {
        var log = try openLog()
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "retention", log: control.log)
        for closed in try Retention.closedMonths(on: &log) {
            try control.catchUp(to: closed.position)
            try lookForObstacles(on: &connection)
            let sealed = try seal(on: &connection) { sealing, connection in try sealing.seal(closed, on: &connection) }
            try Retention.recordLosses(of: closed.month, on: &log)
            let outcome = try Retention.drop(closed.month, until: .after(seconds: patience), on: &log)
            report(RemovedMonth(month: closed.month, sealed: sealed, isDropped: outcome == .dropped))
        }
        let remainder = try dropRemainder(days: days, now: now, on: &connection)
        try SealedDeliveries.forgetGone(on: &connection)
        try SealedInstallDays.forgetGone(on: &connection)
        try SealedGoals.forgetGone(on: &connection)
        return remainder
    }

    /// A session that reads whole months, which needs other plans than reading single deliveries.
    private func openLog() throws -> Connection {
        try LogSession.open(url: control.url, role: nil, purpose: "retention", log: control.log)
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
        try control.catchUp(to: found.position)
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

    /// Throws the obstacle, if there is one.
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
            throw Obstacle.foreign(Array(Set(try foreign.values())).sorted())
        }
    }
}
