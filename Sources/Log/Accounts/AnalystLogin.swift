package import Postgres

/// A login that reads the views of `analytics` as a member of the group `bellwether_analyst`.
package enum AnalystLogin {
    /// The login on the embedded server, which only root and the server's own user can reach.
    package static let embedded = "bellwether_reader"
    /// The login of the pages of `look` there: people in psql can neither take its connections nor change its settings.
    package static let pages = "bellwether_pages"
    /// How many sessions each of the two may have at once: the service needs the others of the hundred that the
    /// embedded server allows.
    package static let connections = 20

    /// The settings that its sessions start with; people may change them in their own sessions.
    package static let settings: KeyValuePairs<String, String> = [
        "role": LogSession.Role.analyst.rawValue, "timezone": "UTC", "search_path": "analytics",
        "default_transaction_read_only": "on", "statement_timeout": "5min",
        "idle_in_transaction_session_timeout": "10min", "idle_session_timeout": "1h",
    ]
    /// Only a superuser can change these: disk space for temporary files of one session, and what a session writes into
    /// the server's log. An error quotes the value that it is about, so one statement could write many megabytes there.
    package static let limits: KeyValuePairs<String, String> = ["temp_file_limit": "2GB", "log_min_messages": "panic"]

    /// Creates the login, or repairs it, since it may have changed its own settings. Needs a superuser.
    package static func make(_ name: String, on connection: inout Connection) throws(PostgresError) {
        let isThere = try !connection.query("SELECT FROM pg_roles WHERE rolname = \(name)").isEmpty
        var databases: [String] = []
        for row in try connection.query(
            """
            SELECT d.datname::text FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = s.setdatabase
            WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = \(name))
            """)
        { databases.append(try row.get(0)) }
        try connection.execute(script: statements(for: name, isThere: isThere, changedIn: databases))
    }

    private static func statements(for name: String, isThere: Bool, changedIn databases: [String]) -> String {
        let login = Statement.quoted(name)
        var lines = [
            "\(isThere ? "ALTER" : "CREATE") ROLE \(login) LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE "
                + "CONNECTION LIMIT \(connections)",
            "SET LOCAL client_min_messages = warning",
            "GRANT \(LogSession.Role.analyst.rawValue) TO \(login)", "ALTER ROLE \(login) RESET ALL",
        ]
        lines += databases.map { "ALTER ROLE \(login) IN DATABASE \(Statement.quoted($0)) RESET ALL" }
        for (setting, value) in Array(settings) + Array(limits) {
            lines.append("ALTER ROLE \(login) SET \(setting) = '\(value)'")
        }
        return "BEGIN;\n" + lines.map { $0 + ";\n" }.joined() + "COMMIT"
    }

    /// Whether it exists, with the settings of `make` and no others, in no database.
    package static func isRight(_ name: String, on connection: inout Connection) throws(PostgresError) -> Bool {
        let wanted = (Array(settings) + Array(limits)).map { "\($0.key)=\($0.value)" }.sorted()
        let rows = try connection.query(
            """
            SELECT ARRAY(
                SELECT CASE WHEN s.setdatabase = 0 THEN setting ELSE 'in a database: ' || setting END
                FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting WHERE s.setrole = r.oid)
            FROM pg_roles AS r
            WHERE r.rolname = \(name) AND r.rolcanlogin AND r.rolconnlimit = \(Int32(connections))
            """)
        guard let row = rows.first else { return false }
        return try row.get(0, as: [String].self).sorted() == wanted
    }

    /// Ends one session of the login if all are taken: the one that has been idle longest, else the one whose statement
    /// has run longest beyond the timeout that the login begins with. Needs a superuser.
    package static func makeRoom(for name: String, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM (
                SELECT pid FROM pg_stat_activity
                WHERE usename = \(name)
                    AND (state <> 'active' OR query_start < clock_timestamp() - interval '5 minutes')
                    AND (SELECT count(*) FROM pg_stat_activity WHERE usename = \(name)) >= \(Int32(connections))
                ORDER BY state = 'active', state_change LIMIT 1
            ) AS oldest
            """)
    }
}
