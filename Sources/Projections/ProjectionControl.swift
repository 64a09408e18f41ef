package import Accounts
internal import Postgres
package import ServiceRuntime

/// The doors to the projections for commands and tests.
package struct ProjectionControl: Sendable {
    let url: String
    let log: Log
    /// What is made of the deliveries.
    package var projectors = Projectors.all
    /// Steps at once.
    package var lanes = 2
    /// As whom; nil is the owner.
    package var role: LogSession.Role? = .projector
    /// Events of one step: more than the runner takes, since nobody waits for one, and a delivery's events meet in it.
    package var mostEvents: Int64 = 50_000
    /// Ends what takes long.
    package var cancellation = Cancellation()

    package init(url: String, log: Log) {
        self.url = url
        self.log = log
    }

    /// Brings the live funnels to the log's present head and says what has stopped. Safe beside a running service.
    package func catchUp() throws -> (head: Int64, stopped: [StoppedProjection]) {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "catching up", log: log)
        return try catchUp(to: try Backlog.read(.live, on: &connection).head)
    }

    /// Ends the changes of time zones that were cut short.
    package func finishZoneChanges() throws {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "time zones", log: log)
        for change in try ZoneChange.pending(byRules: false, on: &connection) { _ = try change.make(on: &connection) }
    }

    /// What of the live funnels does not go on.
    package func stopped() throws -> [StoppedProjection] {
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "projections", log: log)
        return try StoppedProjection.all(on: &connection)
    }

    /// Brings the live funnels to a position at least.
    func catchUp(to position: Int64) throws -> (head: Int64, stopped: [StoppedProjection]) {
        try CatchUp(
            url: url, role: role, choice: .live, projectors: projectors, lanes: lanes, mostEvents: mostEvents, log: log,
            cancellation: cancellation
        )
        .run(to: position)
        var connection = try ProjectionSession.open(url: url, role: role, purpose: "catching up", log: log)
        return (position, try StoppedProjection.all(on: &connection))
    }
}

/// A projection of the live generation that does not go on.
package struct StoppedProjection: Sendable {
    package let name: String
    package let batch: Int64
    package let reason: String

    /// Those of the live generation.
    static func all(on connection: inout Connection) throws(PostgresError) -> [StoppedProjection] {
        try all(where: "l.state = 'live'", on: &connection)
    }

    /// Those of a generation.
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
            stopped.append(StoppedProjection(name: try row.get(0), batch: try row.get(1), reason: try row.get(2)))
        }
        return stopped
    }
}
