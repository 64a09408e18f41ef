package import Postgres

/// A login that reads the views of `analytics` as a member of the group `bellwether_analyst`.
package enum AnalystLogin {
    /// The login on the embedded server, which only root and the server's own user can reach.
    package static let embedded = "bellwether_reader"
    /// How many sessions it may have at once: the service needs the others of the hundred that the embedded server allows.
    package static let connections = 20

    /// The settings that its sessions start with; people may change them in their own sessions.
    package static let settings: KeyValuePairs<String, String> = [
        "role": LogSession.Role.analyst.rawValue, "timezone": "UTC", "search_path": "analytics",
        "default_transaction_read_only": "on", "statement_timeout": "5min",
        "idle_in_transaction_session_timeout": "10min",
    ]
    /// Disk space for temporary files of one session. Only a superuser can change this.
    package static let temporaryFiles = "2GB"

    /// Creates the login, or repairs it, since it may have changed its own settings. Needs a superuser.
    package static func make(_ name: String, on connection: inout Connection) throws(PostgresError) {
        try connection.execute(script: statements(for: name, exists: try exists(name, on: &connection)))
    }

    private static func exists(_ name: String, on connection: inout Connection) throws(PostgresError) -> Bool {
        try !connection.query("SELECT FROM pg_roles WHERE rolname = \(name)").isEmpty
    }

    private static func statements(for name: String, exists: Bool) -> String {
        let login = Statement.quoted(name)
        var lines = [
            "\(exists ? "ALTER" : "CREATE") ROLE \(login) LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT \(connections)",
            "SET LOCAL client_min_messages = warning",
            "GRANT \(LogSession.Role.analyst.rawValue) TO \(login)", "ALTER ROLE \(login) RESET ALL",
        ]
        for (setting, value) in settings { lines.append("ALTER ROLE \(login) SET \(setting) = '\(value)'") }
        lines.append("ALTER ROLE \(login) SET temp_file_limit = '\(temporaryFiles)'")
        return "BEGIN;\n" + lines.map { $0 + ";\n" }.joined() + "COMMIT"
    }

    /// Whether it exists, with the settings of `make`.
    package static func isRight(_ name: String, on connection: inout Connection) throws(PostgresError) -> Bool {
        let wanted = (settings.map { "\($0.key)=\($0.value)" } + ["temp_file_limit=\(temporaryFiles)"]).sorted()
        let rows = try connection.query(
            """
            SELECT ARRAY(SELECT unnest(s.setconfig) ORDER BY 1)
            FROM pg_roles AS r JOIN pg_db_role_setting AS s ON s.setrole = r.oid AND s.setdatabase = 0
            WHERE r.rolname = \(name) AND r.rolcanlogin AND r.rolconnlimit = \(Int32(connections))
            """)
        guard let row = rows.first else { return false }
        return try row.get(0, as: [String].self).sorted() == wanted
    }
}
