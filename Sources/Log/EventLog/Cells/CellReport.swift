package import Postgres

/// What a process of the service says of a cell every few seconds.
package struct CellReport: Sendable {
    /// The name of the process.
    package let node: String
    package let login: String
    package let cell: Int16
    /// Why it cannot work there; nil if it can.
    package let fault: String?
    /// Whether it has had a fault for a while and still says so.
    package let isLasting: Bool

    /// Says it of these cells, and forgets processes that have ended.
    package static func tell(
        _ faults: [(cell: Int16, fault: String?)], node: String, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            DELETE FROM cluster.process
            WHERE told_at < now() - interval '1 hour' OR node = \(node) AND cell <> ALL (\(faults.map(\.cell)))
            """)
        for (cell, fault) in faults {
            try connection.query(
                """
                INSERT INTO cluster.process AS known (node, cell, fault, fault_since)
                SELECT \(node), cell, \(fault), CASE WHEN \(fault)::text IS NOT NULL THEN now() END
                FROM cluster.cell WHERE cell = \(cell)
                ON CONFLICT (node, cell) DO UPDATE SET
                    login = session_user, fault = excluded.fault, told_at = now(),
                    fault_since = CASE WHEN excluded.fault IS NOT NULL THEN coalesce(known.fault_since, now()) END
                """)
        }
    }

    /// What running processes said in this database. One that has said nothing for half a minute has ended, or reaches
    /// nobody.
    package static func all(on connection: inout Connection) throws(PostgresError) -> [CellReport] {
        var reports: [CellReport] = []
        for row in try connection.query(
            """
            SELECT node, login, cell, fault,
                coalesce(fault_since < now() - interval '15 seconds' AND told_at > now() - interval '10 seconds', false)
            FROM cluster.process WHERE told_at > now() - interval '30 seconds'
            ORDER BY node, cell
            """)
        {
            reports.append(
                CellReport(
                    node: try row.get(0), login: try row.get(1), cell: try row.get(2), fault: try row.optional(3),
                    isLasting: try row.get(4)))
        }
        return reports
    }

    /// Logins of this database, besides its owners, that may take events.
    package static func ingestLogins(on connection: inout Connection) throws(PostgresError) -> [String] {
        var logins: [String] = []
        for row in try connection.query(
            """
            SELECT rolname::text FROM pg_roles
            WHERE rolcanlogin AND NOT rolsuper AND pg_has_role(oid, 'bellwether_ingest', 'USAGE')
                AND NOT pg_has_role(oid, (SELECT nspowner FROM pg_namespace WHERE nspname = 'log'), 'MEMBER')
            ORDER BY 1
            """)
        { logins.append(try row.get(0)) }
        return logins
    }
}
