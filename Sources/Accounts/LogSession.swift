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
