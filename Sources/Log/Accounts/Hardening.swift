package import Postgres

/// Settings that keep readers of the database from blocking or exhausting the service. A superuser must make them once,
/// since PostgreSQL's defaults allow too much. The embedded server and compose have them; `bellwether status
/// --security` checks.
package struct Hardening: Sendable {
    package let name: String
    /// What can happen while it is open.
    package let danger: String
    /// Returns one line for each thing that is open. It can read from `person`.
    let question: String
    /// What a superuser must run in this database.
    package let mend: String

    /// The result of one check.
    package struct Finding: Sendable {
        package let hardening: Hardening
        /// What is open; empty if nothing is.
        package let open: [String]
    }

    /// Runs all checks in this database.
    package static func look(on connection: inout Connection) throws(PostgresError) -> [Finding] {
        var findings: [Finding] = []
        for hardening in all {
            var open: [String] = []
            let question: String = "\(people) \(hardening.question)"
            for row in try connection.query(Statement(question)) { open.append(try row.get(0)) }
            findings.append(Finding(hardening: hardening, open: open))
        }
        return findings
    }

    /// Closes what is open and can be closed by a fixed statement, as a superuser in this database.
    package static func close(on connection: inout Connection) throws(PostgresError) {
        for finding in try look(on: &connection) where !finding.open.isEmpty && finding.hardening.isForAll {
            try connection.execute(script: finding.hardening.mend)
        }
    }

    /// Makes the privileges of PostgreSQL's own functions what they are by default, as a superuser in this database. An
    /// upgrade repeats each GRANT by the function's parameters, and fails if a new version has other ones. `close`
    /// closes them again.
    package static func openFunctions(on connection: inout Connection) throws(PostgresError) {
        try connection.execute(
            script: """
                DO $$
                DECLARE
                    function record;
                BEGIN
                    FOR function IN
                        SELECT p.oid::regprocedure AS name, d.rolname AS owner
                        FROM pg_proc AS p, pg_roles AS d
                        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proacl IS NOT NULL
                            AND \(isTaken)
                            AND d.oid = (SELECT datdba FROM pg_database WHERE datname = current_database())
                    LOOP
                        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', function.name);
                        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', function.name, function.owner);
                    END LOOP;
                END
                $$;
                """)
    }

    /// Whether the statement can be run as it is, without filling in a person's name.
    package var isForAll: Bool { !mend.contains("PERSON") }
}
