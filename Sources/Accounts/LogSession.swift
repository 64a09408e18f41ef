package import Postgres
package import ServiceRuntime

/// How a process of this program talks to the database: the session settings and the role of its work.
package enum LogSession {
    /// The role to step down to after logging in; nil stays what the URL says, the owner.
    package enum Role: String, Sendable {
        case ingest = "bellwether_ingest"
        case projector = "bellwether_projector"
        case analyst = "bellwether_analyst"
        case reporter = "bellwether_reporter"
    }

    /// Connects and sets the session up.
    package static func open(
        url: String, role: Role?, purpose: String, log: Log, statementSeconds: Int = 30
    ) throws(PostgresError) -> Connection {
        var connection = try connect(url: url, purpose: purpose, log: log, statementSeconds: statementSeconds)
        if let role { try connection.execute(script: "SET ROLE \(Statement.quoted(role.rawValue))") }
        // An acknowledged event is on disk, whatever the database's default; a stronger one (remote_apply) stays.
        try connection.query(
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') IN ('off', 'local')
            """)
        connection.deadline = .never
        return connection
    }

    /// Before anything else a session sets its own timeouts: what the login or the database has set may be too short for
    /// whatever comes. It may even be too short for this, on a busy machine: then once more. Warnings must come through:
    /// one of them says that a commit reached no standby.
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

/// What a key lets its bearer do: what ingestion has to know of it.
package struct Access: Sendable {
    package let hash: SHA256
    package let key: Int32
    package let kind: APIKey.Kind
    package let isRevoked: Bool
    package let app: Int32
    package let slug: String
    package let rateLimit: RateLimit?

    /// All keys, revoked ones too: a revoked key is told from an unknown one.
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
        SELECT key.hash, key.id, key.kind, key.revoked_at IS NOT NULL, app.id, app.slug, app.rate_limit, app.rate_burst
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
                    rateLimit: rate.map { RateLimit(eventsPerSecond: $0, burst: burst ?? $0) }))
        }
        return all
    }
}
