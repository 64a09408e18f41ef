package import Accounts
package import Postgres
package import ServiceRuntime

/// A connection for the work of projections.
package enum ProjectionSession {
    /// Connects as the projector, or as the owner for work that needs the owner.
    package static func open(
        url: String, role: LogSession.Role? = .projector, purpose: String, log: Log
    ) throws(PostgresError) -> Connection {
        var connection = try LogSession.open(
            url: url, role: role, purpose: purpose, log: log, statementSeconds: statementSeconds)
        connection.deadline = .after(seconds: 10)
        // Every statement of a step looks rows up by an index, even if a new table's statistics suggest otherwise. What
        // is the same is found by sorting: clients choose ids and names, and can make any number of them that
        // PostgreSQL gives one hash.
        try connection.execute(
            script: """
                SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
                SET enable_mergejoin = off; SET enable_bitmapscan = off; SET enable_hashagg = off; SET jit = off;
                """)
        connection.deadline = .never
        return connection
    }

    /// The longest time that a statement of a step may take.
    static let statementSeconds = 60
}
