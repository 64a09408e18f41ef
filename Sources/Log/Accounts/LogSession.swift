package import Postgres
package import ServiceRuntime

/// Opens a process's database sessions, with the settings and the role for its work.
package enum LogSession {
    /// The role to switch to after logging in; nil keeps the login of the URL, the owner.
    package enum Role: String, Sendable {
        case ingest = "bellwether_ingest"
        case projector = "bellwether_projector"
        case analyst = "bellwether_analyst"
        case reporter = "bellwether_reporter"
        case look = "bellwether_look"
    }

    /// Connects and sets up the session.
    package static func open(
        url: String, role: Role?, purpose: String, log: Log, statementSeconds: Int = 30
    ) throws(PostgresError) -> Connection {
        var connection = try connect(url: url, purpose: purpose, log: log, statementSeconds: statementSeconds)
        if let role { try connection.execute(script: "SET ROLE \(Statement.quoted(role.rawValue))") }
        // An acknowledged event is on disk, whatever the database's default; a stronger setting (remote_apply) stays.
        try connection.query(
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') IN ('off', 'local')
            """)
        connection.deadline = .never
        return connection
    }

    /// First of all a session sets its own timeouts: those of the login or the database may be too short for the work.
    /// On a busy machine they may even be too short for this statement, so it is tried again. Warnings must come
    /// through, since one of them says that a commit reached no standby.
    private static func connect(
        url: String, purpose: String, log: Log, statementSeconds: Int
    ) throws(PostgresError) -> Connection {
        let deadline = Deadline.after(seconds: 10)
        var attempts = 0
        while true {
            var connection = try Connection(url: url, applicationName: "bellwether \(purpose)", log: log)
            connection.deadline = deadline
            do throws(PostgresError) {
                try connection.execute(
                    script: """
                        SET statement_timeout = '\(statementSeconds)s';
                        SET lock_timeout = '10s';
                        SET idle_in_transaction_session_timeout = '60s';
                        SET idle_session_timeout = 0;
                        SET timezone = 'UTC';
                        SET client_min_messages = notice;
                        """)
                return connection
            } catch {
                attempts += 1
                guard error.isRetriable, attempts < 20, !deadline.hasPassed else { throw error }
            }
        }
    }
}

/// What ingestion must know about a key.
package struct Access: Sendable {
    package let hash: SHA256
    package let key: Int32
    package let kind: APIKey.Kind
    package let isRevoked: Bool
    package let app: Int32
    package let slug: String
    package let rateLimit: RateLimit?
    package let goals: GoalSource

    /// All keys. Revoked ones are included, since they get another answer than unknown ones.
    package static func all(on connection: inout Connection) throws(PostgresError) -> [Access] {
        try read(try connection.queryPrepared("\(sql: selection)"))
    }

    /// The keys with these hashes.
    package static func find(_ hashes: [SHA256], on connection: inout Connection) throws(PostgresError) -> [Access] {
        try read(
            try connection.queryPrepared("\(sql: selection) WHERE key.hash = ANY (\(hashes.map { Bytea($0.bytes) }))"))
    }

    private static let selection: StaticString =
        """
        SELECT key.hash, key.id, key.kind, key.revoked_at IS NOT NULL, app.id, app.slug, app.rate_limit, app.rate_burst,
            app.goals
        FROM log.api_key AS key JOIN log.app AS app ON app.id = key.app
        """

    private static func read(_ rows: Rows) throws(PostgresError) -> [Access] {
        var all: [Access] = []
        for row in rows {
            guard let hash = SHA256(stored: try row.get(0, as: Bytea.self).bytes) else { continue }
            let rate: Double? = try row.optional(6)
            let burst: Double? = try row.optional(7)
            all.append(
                Access(
                    hash: hash, key: try row.get(1), kind: APIKey.Kind(rawValue: try row.get(2)) ?? .write,
                    isRevoked: try row.get(3), app: try row.get(4), slug: try row.get(5),
                    rateLimit: rate.map { RateLimit(eventsPerSecond: $0, burst: burst ?? $0) },
                    goals: GoalSource(rawValue: try row.get(8)) ?? .any))
        }
        return all
    }
}
