extension Hardening {
    package static let all = [
        functions, languages, database, otherDatabases, group, logins, lockedOut, connections, views, boundLogins,
    ]

    /// The logins of people who read, also those that are members by way of another role. Not the owner, who is a
    /// member to switch to that role, and not the logins of the services, which read what analysts read.
    static let people: StaticString = """
        WITH person AS (
            SELECT r.oid, r.rolname::text AS name, r.rolconnlimit AS most FROM pg_roles AS r
            WHERE r.rolcanlogin AND NOT r.rolsuper
                AND pg_has_role(r.oid, (SELECT oid FROM pg_roles WHERE rolname = 'bellwether_analyst'), 'MEMBER')
                AND r.oid <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'log')
                AND NOT EXISTS (
                    SELECT FROM pg_roles AS service
                    WHERE service.rolname IN ('bellwether_ingest', 'bellwether_projector', 'bellwether_reporter',
                        'bellwether_look')
                        AND pg_has_role(r.oid, service.oid, 'MEMBER'))
        )
        """

    /// Whether a row of `pg_proc` is one of PostgreSQL's functions that readers lose. The guide and the compose file
    /// have it, too.
    static let isTaken = """
        proname ~ '^(lo_|pg_(try_)?advisory_|(loread|lowrite|pg_logical_emit_message|pg_export_snapshot)$)'
        """

    private static let functions = Hardening(
        name: "functions of everybody",
        danger: "readers can store large objects and snapshots, write to the write-ahead log, and take advisory locks",
        question: """
            SELECT DISTINCT p.proname::text FROM pg_proc AS p
            WHERE p.pronamespace = 'pg_catalog'::regnamespace
                AND \(isTaken)
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
                        AND \(isTaken)
                LOOP
                    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
                    -- Whoever restores a dump as the owner has to be told of them without an error.
                    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', function,
                        (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()));
                END LOOP;
            END
            $$;
            """)

    private static let languages = Hardening(
        name: "languages of everybody",
        danger: "readers can run blocks of code (DO): loops that no statement of SQL could be",
        question: """
            SELECT lanname::text FROM pg_language
            WHERE lanispl AND lanpltrusted AND has_language_privilege('public', oid, 'USAGE')
            ORDER BY 1
            """,
        mend: """
            DO $$
            DECLARE
                language name;
                owner name := pg_get_userbyid(coalesce((SELECT nspowner FROM pg_namespace WHERE nspname = 'log'),
                    (SELECT datdba FROM pg_database WHERE datname = current_database())));
            BEGIN
                FOR language IN SELECT lanname FROM pg_language WHERE lanispl AND lanpltrusted LOOP
                    EXECUTE format('REVOKE USAGE ON LANGUAGE %I FROM PUBLIC', language);
                    -- The owner needs it to migrate.
                    EXECUTE format('GRANT USAGE ON LANGUAGE %I TO %I', language, owner);
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

    private static let otherDatabases = Hardening(
        name: "other databases of the server",
        danger: "readers can connect to them, where nothing keeps them from using up the disk",
        question: """
            SELECT datname::text FROM pg_database
            WHERE datallowconn AND datname <> current_database() AND has_database_privilege('public', oid, 'CONNECT')
            ORDER BY 1
            """,
        mend: """
            -- First GRANT CONNECT ON DATABASE ... TO the logins that work in other databases of this server.
            DO $$
            DECLARE
                database name;
            BEGIN
                FOR database IN
                    SELECT datname FROM pg_database WHERE datallowconn AND datname <> current_database()
                LOOP
                    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', database);
                END LOOP;
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
        danger: "one person can take all connections, or fill the disk with temporary files or the server's log",
        question: """
            SELECT p.name || CASE WHEN p.most < 0 THEN ': no limit of connections' ELSE '' END
                || CASE WHEN NOT l.has_limit THEN ': no temp_file_limit' ELSE '' END
                || CASE WHEN NOT l.is_quiet THEN ': no log_min_messages' ELSE '' END
            FROM person AS p
            CROSS JOIN LATERAL (
                SELECT
                    count(*) FILTER (WHERE s.setdatabase = 0 AND setting ~ '^temp_file_limit=') > 0
                        AND count(*) FILTER (WHERE setting = 'temp_file_limit=-1') = 0 AS has_limit,
                    count(*) FILTER (WHERE s.setdatabase = 0 AND setting ~ '^log_min_messages=') > 0
                        AND count(*) FILTER (WHERE setting ~ '^log_min_messages=' AND setting !~* '=(fatal|panic)$') = 0
                        AS is_quiet
                FROM pg_db_role_setting AS s, unnest(s.setconfig) AS setting
                WHERE s.setrole = p.oid
            ) AS l
            WHERE p.most < 0 OR NOT l.has_limit OR NOT l.is_quiet
            ORDER BY 1
            """,
        mend: """
            ALTER ROLE PERSON CONNECTION LIMIT 5;
            ALTER ROLE PERSON SET temp_file_limit = '2GB';
            ALTER ROLE PERSON SET log_min_messages = 'panic';
            """)

    private static let lockedOut = Hardening(
        name: "logins that shut themselves out",
        danger: "a login may set this for itself, also for one database, and then nobody can use that login",
        question: """
            SELECT format('%s: %s%s', r.rolname, setting, ' in database ' || d.datname)
            FROM (
                SELECT pg_get_userbyid(s.setrole) AS rolname, s.setdatabase, s.setrole, unnest(s.setconfig) AS setting
                FROM pg_db_role_setting AS s
            ) AS r LEFT JOIN pg_database AS d ON d.oid = r.setdatabase
            WHERE r.setting ~ '^local_preload_libraries=.'
                AND EXISTS (
                    SELECT FROM pg_roles AS ours
                    WHERE ours.rolname ~ '^bellwether_(analyst|ingest|projector|reporter|look)$'
                        AND pg_has_role(r.setrole, ours.oid, 'MEMBER'))
            ORDER BY 1
            """,
        mend: """
            ALTER ROLE PERSON RESET local_preload_libraries;
            ALTER ROLE PERSON IN DATABASE "DATABASE" RESET local_preload_libraries;
            """)

    private static let connections = Hardening(
        name: "connections for the service",
        danger: "analysts together can use up the connections that the service needs",
        question: """
            SELECT format('%s for all, of which the analysts may take %s', present, taken)
            FROM (
                SELECT current_setting('max_connections')::integer
                        - current_setting('superuser_reserved_connections')::integer
                        - coalesce(current_setting('reserved_connections', true)::integer, 0) AS present,
                    coalesce(current_setting('reserved_connections', true)::integer, 0) AS reserved,
                    (SELECT coalesce(sum(CASE WHEN most < 0 THEN 1000000 ELSE most END), 0) FROM person) AS taken
            ) AS c
            WHERE reserved < 20 AND present - taken < 20
            """,
        mend: "ALTER ROLE PERSON CONNECTION LIMIT 5;")

    private static let views = Hardening(
        name: "views without the rule of apps", danger: "a login that is bound to some apps sees the rows of all there",
        question: "SELECT view::text FROM log.unbound_view ORDER BY 1", mend: "SELECT log.bind_views();")

    private static let boundLogins = Hardening(
        name: "logins bound to apps",
        danger: "the rule is about the views, and these logins reach what is behind them, too",
        question: """
            SELECT format('%s: %s', r.rolname, why.words)
            FROM log.analyst AS a
            JOIN pg_roles AS r ON r.rolname = a.login
            CROSS JOIN LATERAL (
                SELECT CASE WHEN r.rolsuper THEN 'a superuser' ELSE (
                    SELECT 'a member of ' || string_agg(m.rolname, ', ' ORDER BY m.rolname) FROM pg_roles AS m
                    WHERE pg_has_role(r.oid, m.oid, 'MEMBER')
                        AND (m.oid = (SELECT nspowner FROM pg_namespace WHERE nspname = 'log')
                            OR m.rolname ~ '^(bellwether_(ingest|projector|reporter|look)|pg_read_all_data)$')) END
                                AS words
            ) AS why
            WHERE a.apps IS NOT NULL AND why.words IS NOT NULL
            ORDER BY 1
            """,
        mend: "REVOKE ROLE FROM PERSON;")
}
