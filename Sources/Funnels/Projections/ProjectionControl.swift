package import Accounts
internal import Postgres
package import ServiceRuntime

/// What commands and tests may do with the projections.
package struct ProjectionControl: Sendable {
    let url: String
    let log: Log
    /// The funnels that the deliveries feed.
    package var projectors = Projectors.all
    /// How many steps run at once.
    package var lanes = 2
    /// The role to connect as; nil is the owner.
    package var role: LogSession.Role? = .projector
    /// The most events in a step. More than the runner takes: nobody waits for a step, and more events of a delivery
    /// and of a cell meet in one.
    package var mostEvents: Int64 = 150_000
    /// Cancels long work.
    package var cancellation = Cancellation()

    package init(url: String, log: Log) {
        self.url = url
        self.log = log
    }

    /// Updates the live funnels to the log's present head, and returns what has stopped. Safe beside a running service.
    package func catchUp() throws -> (head: Int64, stopped: [StoppedProjection]) {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "catching up", log: log)
        let backlog = try Backlog.read(.live, on: &connection)
        if !backlog.isLevel {
            // A little work needs one lane.
            try catchUp(to: backlog.head, lanes: backlog.events > min(mostEvents, 50_000) ? lanes : 1)
            // Lanes survive the loss of a connection, and meanwhile this one may be lost.
            if (try? connection.query("SELECT")) == nil {
                connection = try ProjectionSession.open(url: url, role: role, purpose: "catching up", log: log)
            }
        }
        return (backlog.head, try StoppedProjection.all(on: &connection))
    }

    /// Finishes interrupted changes of time zones, and makes those that an update of the time-zone data requires.
    package func finishZoneChanges() throws {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "time zones", log: log)
        for change in try ZoneChange.pending(.noted, on: &connection) { _ = try change.make(on: &connection) }
    }

    /// Keeps what some views say of busy days, for about so many seconds. `log` is told of those that take too long.
    package func keepDays(within seconds: Double, log: Log) throws {
        var days = KeptDays(url: url, role: role, log: log)
        days.cancellation = cancellation
        try days.makeAll(within: seconds)
    }

    /// The live projections that have stopped.
    package func stopped() throws -> [StoppedProjection] {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "projections", log: log)
        return try StoppedProjection.all(on: &connection)
    }

    /// Updates the live funnels to a position or further.
    func catchUp(to position: Int64, lanes: Int? = nil) throws {
        try CatchUp(
            url: url, role: role, choice: .live, projectors: projectors, lanes: lanes ?? self.lanes,
            mostEvents: mostEvents, log: log, cancellation: cancellation
        )
        .run(to: position)
    }
}

/// A projection of the live generation that has stopped.
package struct StoppedProjection: Sendable {
    package let name: String
    package let batch: Int64
    package let reason: String

    /// All stopped projections of the live generation.
    static func all(on connection: inout Connection) throws(PostgresError) -> [StoppedProjection] {
        try all(where: "l.state = 'live'", on: &connection)
    }

    /// All stopped projections of a generation.
    static func all(of generation: Int32, on connection: inout Connection) throws(PostgresError) -> [StoppedProjection]
    {
        try all(where: "l.id = \(generation)", on: &connection)
    }

    private static func all(
        where condition: Statement, on connection: inout Connection
    ) throws(PostgresError) -> [StoppedProjection] {
        let rows = try connection.query(
            Statement(
                """
                SELECT p.name, p.stopped_batch, p.stopped_because FROM projection.projector AS p
                JOIN projection.generation AS l ON l.id = p.generation
                WHERE \(condition.sql) AND p.stopped_at IS NOT NULL ORDER BY p.name
                """, condition.parameters))
        var stopped: [StoppedProjection] = []
        for row in rows {
            stopped.append(
                StoppedProjection(
                    name: try row.get("name"), batch: try row.get("stopped_batch"),
                    reason: try row.get("stopped_because")))
        }
        return stopped
    }
}
