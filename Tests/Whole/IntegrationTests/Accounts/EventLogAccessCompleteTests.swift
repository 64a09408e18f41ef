import Postgres
import TestSupport
import Testing

/// That the matrix of rights leaves nothing out: no schema, no role, no kind of object, and nobody's right to
/// everything.
@Suite("Who may do what: nothing is left out")
struct EventLogAccessCompleteTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase.make() }

    private func names(_ query: Statement) throws -> [String] {
        defer { database.drop() }
        return try database.column(query)
    }

    private static var ours: [String] { EventLogAccessMatrixTests.schemas }

    @Test("every schema of the database is ours or PostgreSQL's, and PostgreSQL's public one is empty")
    func schemas() throws {
        let schemas = try names(
            """
            SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
            UNION ALL
            SELECT 'public: ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT 'public: ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            ORDER BY 1
            """)
        #expect(schemas == (Self.ours + ["public"]).sorted())
    }

    @Test("every role of ours is in the matrix, and none is more than a name for its rights")
    func roles() throws {
        let roles = try names(
            """
            SELECT rolname || CASE WHEN rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
                THEN ' is privileged' ELSE '' END || CASE WHEN rolcanlogin THEN ' logs in' ELSE '' END
            FROM pg_roles WHERE rolname ~ '^bellwether_' AND rolname <> \(TestPostgres.owner)
            ORDER BY 1
            """)
        let login = [TestPostgres.analyst, TestPostgres.stranger]
        #expect(
            roles
                == EventLogAccessMatrixTests.expected.keys.map { login.contains($0) ? "\($0) logs in" : $0 }.sorted())
    }

    @Test("no role of ours is a member of another, but that those who report and show may read what the analyst reads")
    func members() throws {
        let members = try names(
            """
            SELECT member::regrole || ' in ' || roleid::regrole FROM pg_auth_members
            WHERE member::regrole::text = ANY (\(Array(EventLogAccessMatrixTests.expected.keys))::text[])
            """)
        #expect(
            members.sorted() == [
                "bellwether_look in bellwether_analyst", "bellwether_reader in bellwether_analyst",
                "bellwether_reporter in bellwether_analyst",
            ])
    }

    @Test("whoever has no role of ours may do nothing with anything of ours, now or made later")
    func everybody() throws {
        // What has no list of its own has PostgreSQL's usual one, which lets everybody call a function.
        let rights = try names(
            """
            WITH granted (object, rights) AS (
                SELECT 'schema ' || nspname, coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace
                WHERE nspname = ANY (\(Self.ours)::text[])
                UNION ALL
                SELECT oid::regclass::text,
                    coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))
                FROM pg_class WHERE relnamespace::regnamespace::text = ANY (\(Self.ours)::text[])
                UNION ALL
                SELECT attrelid::regclass || '.' || attname, attacl FROM pg_attribute
                    JOIN pg_class AS c ON c.oid = attrelid
                WHERE relnamespace::regnamespace::text = ANY (\(Self.ours)::text[]) AND attacl IS NOT NULL
                UNION ALL
                SELECT oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner)) FROM pg_proc
                WHERE pronamespace::regnamespace::text = ANY (\(Self.ours)::text[])
                UNION ALL
                SELECT 'later in ' || coalesce(defaclnamespace::regnamespace::text, 'all'), defaclacl
                    FROM pg_default_acl
            )
            SELECT object || ': ' || privilege_type FROM granted, aclexplode(rights) WHERE grantee = 0 ORDER BY 1
            """)
        #expect(rights == [])
    }

    @Test("nothing of ours is of a kind that the matrix does not look at")
    func kinds() throws {
        let others = try names(
            """
            SELECT 'relation ' || relname || ' of kind ' || relkind::text FROM pg_class
            WHERE relnamespace::regnamespace::text = ANY (\(Self.ours)::text[])
                AND relkind NOT IN ('r', 'p', 'v', 'm', 'f', 'S', 'i', 'I')
            UNION ALL
            SELECT 'type ' || typname FROM pg_type
            WHERE typnamespace::regnamespace::text = ANY (\(Self.ours)::text[]) AND typrelid = 0 AND typcategory <> 'A'
            UNION ALL
            SELECT 'large object ' || oid FROM pg_largeobject_metadata
            UNION ALL
            SELECT 'foreign server ' || srvname FROM pg_foreign_server
            UNION ALL
            SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
            UNION ALL
            SELECT 'event trigger ' || evtname FROM pg_event_trigger
            ORDER BY 1
            """)
        #expect(others == [])
    }

    @Test("a month's partition that is made later gives nobody rights of its own")
    func laterMonths() throws {
        try database.run("SELECT log.make_partition('2011-02-01')")
        let open = try names(
            """
            SELECT relname || ': ' || grantee::regrole || ' ' || privilege_type
            FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid, aclexplode(relacl)
            WHERE inhparent = 'log.event'::regclass AND grantee <> relowner ORDER BY 1
            """)
        #expect(open == ["event_elsewhere: bellwether_ingest SELECT"])
    }
}
