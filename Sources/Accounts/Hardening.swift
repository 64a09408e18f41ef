package import Postgres

/// Settings that keep readers of the database from blocking or exhausting the service. A superuser must make them once, since
/// PostgreSQL's defaults allow too much. The embedded server and compose have them; `bellwether status --security` checks.
package struct Hardening: Sendable {
    package let name: String
    /// What can happen while it is open.
    package let danger: String
    /// Returns one line for each thing that is open.
    private let question: StaticString
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
            for row in try connection.query("\(sql: hardening.question)") { open.append(try row.get(0)) }
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

    /// Makes the privileges of PostgreSQL's own functions what they are by default, as a superuser in this database. An upgrade
    /// repeats each GRANT by the function's parameters, and fails if a new version has other ones. `close` closes them again.
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
                            AND (p.proname ~ '^(lo_|pg_advisory_|pg_try_advisory_)' OR p.proname IN ('loread', 'lowrite', 'pg_logical_emit_message'))
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

    package static let all = [functions, database, group, logins, connections]

    private static let functions = Hardening(
        name: "functions of everybody",
        danger: "readers can store large objects, write to the write-ahead log, and take advisory locks",
        question: """
            SELECT DISTINCT p.proname::text FROM pg_proc AS p
            WHERE p.pronamespace = 'pg_catalog'::regnamespace
                AND (p.proname ~ '^(lo_|pg_advisory_|pg_try_advisory_)' OR p.proname IN ('loread', 'lowrite', 'pg_logical_emit_message'))
                AND has_function_privilege('public', p.oid, 'EXECUTE')
            ORDER BY 1
            """,
        mend: """
            DO $$
            DECLARE
                function regprocedure;
            BEGIN
                FOR function IN
                    SELECT oid FROM pg_proc
                    WHERE pronamespace = 'pg_catalog'::regnamespace
                        AND (proname ~ '^(lo_|pg_advisory_|pg_try_advisory_)' OR proname IN ('loread', 'lowrite', 'pg_logical_emit_message'))
                LOOP
                    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
                    -- Whoever restores a dump as the owner has to be told of them without an error.
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', function,
                        (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()));
                END LOOP;
            END
            $$;
            """)

    private static let database = Hardening(
        name: "rights of PUBLIC on the database",
        danger: "any login on the server can connect and fill the disk with temporary tables",
        question: """
            SELECT privilege FROM unnest(ARRAY['CONNECT', 'TEMPORARY', 'CREATE']) AS privilege
            WHERE has_database_privilege('public', current_database(), privilege)
            """,
        mend: """
            DO $$
            BEGIN
                EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
                EXECUTE format('GRANT CONNECT ON DATABASE %I TO bellwether_ingest, bellwether_projector, bellwether_analyst', current_database());
            END
            $$;
            """)

    private static let group = Hardening(
        name: "the group of analysts",
        danger: "whoever logs in as the group itself can change its settings for everybody",
        question: "SELECT rolname::text FROM pg_roles WHERE rolname = 'bellwether_analyst' AND rolcanlogin",
        mend: "ALTER ROLE bellwether_analyst NOLOGIN;")

    private static let logins = Hardening(
        name: "the logins of analysts",
        danger: "one person can take all connections, or fill the disk with temporary files",
        question: """
            SELECT r.rolname || CASE WHEN r.rolconnlimit < 0 THEN ': no limit of connections' ELSE '' END
                || CASE WHEN NOT l.has_limit THEN ': no temp_file_limit' ELSE '' END
            FROM pg_auth_members AS m JOIN pg_roles AS r ON r.oid = m.member
            CROSS JOIN LATERAL (
                SELECT EXISTS (
                    SELECT FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting
                    WHERE s.setrole = r.oid AND setting ~ '^temp_file_limit=' AND setting <> 'temp_file_limit=-1') AS has_limit
            ) AS l
            WHERE m.roleid = (SELECT oid FROM pg_roles WHERE rolname = 'bellwether_analyst') AND r.rolcanlogin AND NOT r.rolsuper
                AND r.oid <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'log')
                AND (r.rolconnlimit < 0 OR NOT l.has_limit)
            ORDER BY 1
            """,
        mend: "ALTER ROLE PERSON CONNECTION LIMIT 5; ALTER ROLE PERSON SET temp_file_limit = '2GB';")

    private static let connections = Hardening(
        name: "connections for the service",
        danger: "analysts together can use up the connections that the service needs",
        question: """
            SELECT format('%s for all, of which the analysts may take %s', present, taken)
            FROM (
                SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                        - coalesce(current_setting('reserved_connections', true)::integer, 0) AS present,
                    current_setting('max_connections')::integer AS most,
                    coalesce(current_setting('reserved_connections', true)::integer, 0) AS reserved,
                    (
                        SELECT coalesce(sum(CASE WHEN r.rolconnlimit < 0 THEN 1000000 ELSE r.rolconnlimit END), 0)
                        FROM pg_auth_members AS m JOIN pg_roles AS r ON r.oid = m.member
                        WHERE m.roleid = (SELECT oid FROM pg_roles WHERE rolname = 'bellwether_analyst') AND r.rolcanlogin
                            AND NOT r.rolsuper AND r.oid <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'log')
                    ) AS taken
            ) AS c
            WHERE reserved < 20 AND present - taken < 20
            """,
        mend: "ALTER ROLE PERSON CONNECTION LIMIT 5;")
}
