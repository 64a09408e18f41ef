import EventLog
import Postgres
import Projections
import Telemetry
import TestSupport
import Testing

@Suite("Who may do what")
struct EventLogAccessMatrixTests {
    /// All schemas that are ours.
    static let schemas = [
        "analytics", "bellwether", "cells", "cluster", "counted", "hub", "log", "projection", "registry", "report",
        "sends",
    ]

    private static let views =
        [
            "analytics: USAGE", "analytics.action_taps: SELECT", "analytics.app_batches: SELECT",
            "analytics.apps: SELECT", "analytics.batches: SELECT",
            "analytics.categories: SELECT",
            "analytics.category_answers: SELECT", "analytics.category_buttons: SELECT",
            "analytics.category_version_funnel: SELECT", "analytics.device_hour_funnel: SELECT",
            "analytics.hour_funnel: SELECT", "analytics.client_drops: SELECT",
            "analytics.data_quality: SELECT", "analytics.deliveries: SELECT", "analytics.events: SELECT",
            "analytics.experiment_days: SELECT", "analytics.experiment_versions: SELECT",
            "analytics.experiments: SELECT",
            "analytics.fcm_export: SELECT", "analytics.goal_funnel: SELECT", "analytics.goal_times: SELECT",
            "analytics.goals: SELECT", "analytics.installs: SELECT", "analytics.opens: SELECT",
            "analytics.pressure_funnel: SELECT", "analytics.projections: SELECT", "analytics.proofs: SELECT",
            "analytics.receipts: SELECT", "analytics.rejected_events: SELECT", "analytics.report_categories: SELECT",
            "analytics.report_deliveries: SELECT",
            "analytics.report_pages: SELECT", "analytics.report_to_do: SELECT",
            "analytics.reports: SELECT",
            "analytics.sends: SELECT", "analytics.stack_depth_funnel: SELECT",
            "analytics.story_day_pages: SELECT", "analytics.story_events: SELECT", "analytics.story_pages: SELECT",
            // What a hub reads, and where it does.
            "cells: USAGE", "cells.category_version_funnel: SELECT", "cells.device_hour_funnel: SELECT",
            "cells.experiment_count: SELECT", "cells.first_day: SELECT", "cells.forgotten: SELECT",
            "cells.goal_app: SELECT", "cells.installs: SELECT",
            "cells.hour_funnel: SELECT", "cells.message_delivery: SELECT", "cells.moved_batch: SELECT",
            "cells.pressure_funnel: SELECT", "cells.stack_depth_funnel: SELECT", "hub: USAGE",
        ] + ProjectionTables.views.map { "analytics.\($0): SELECT" }
        + Projectors.all.map { "cells.\($0.name): SELECT" }

    /// All that each role may do with what is in our schemas, inherited and public rights included. A new table, view
    /// or function shows up here for the roles that reach it, and nowhere else.
    static let expected: [String: [String]] = [
        "bellwether_ingest": [
            "bellwether: USAGE", "bellwether.migration: SELECT", "cluster: USAGE", "cluster.cell: SELECT",
            "cluster.lacks_batch(): EXECUTE", "cluster.map: SELECT", "cluster.process: DELETE, INSERT, SELECT, UPDATE",
            "cluster.seen: INSERT, SELECT, UPDATE", "cluster.state: SELECT", "log: USAGE", "log.api_key: SELECT",
            "log.app: SELECT",
            "log.add_batch(): EXECUTE", "log.batch: INSERT, SELECT", "log.batch_id: USAGE",
            "log.batch_tally: INSERT, SELECT",
            "log.client_drop: INSERT, SELECT", "log.closed_before_move: SELECT", "log.erasure: SELECT",
            "log.event: INSERT, SELECT",
            "log.event_elsewhere: SELECT",
            "log.head: SELECT, UPDATE of only_one", "log.hold_ties(): EXECUTE", "log.learn_combinations(): EXECUTE",
            "log.learn_words(): EXECUTE",
            "log.make_partition(): EXECUTE", "log.note_pages_ending(): EXECUTE", "log.note_phases(): EXECUTE",
            "log.partition: SELECT", "log.rejected: INSERT, SELECT", "log.request_erasure(): EXECUTE",
            "log.require_open_key(): EXECUTE",
            "log.take_head(): EXECUTE",
            "log.word: SELECT", "registry: USAGE", "registry.button: INSERT, SELECT",
            "registry.category: INSERT, SELECT", "registry.change: INSERT, SELECT", "registry.edition: INSERT, SELECT",
            "registry.experiment_version: INSERT, SELECT", "registry.newest_experiment: SELECT",
            "registry.latest_change: SELECT", "registry.newest_edition: SELECT", "registry.registered_button: SELECT",
            "registry.registered_category: SELECT", "sends: USAGE", "sends.send: INSERT, SELECT",
            "sends.send_message: INSERT, SELECT", "sends.story_page: INSERT, SELECT",
        ],
        "bellwether_projector": [
            "bellwether: USAGE", "bellwether.migration: SELECT", "cluster: USAGE", "cluster.cell: SELECT",
            "cluster.hidden_shards(): EXECUTE", "cluster.is_whole(): EXECUTE", "cluster.map: SELECT",
            "cluster.state: SELECT", "log: USAGE", "log.analyze_whole(): EXECUTE", "log.app: SELECT",
            "log.app_ids_shown(): EXECUTE", "log.apps_shown(): EXECUTE", "log.batch: SELECT",
            "log.batch_expected: SELECT", "log.batch_loss: SELECT", "log.context: SELECT", "log.device: SELECT",
            "log.erasure_request: SELECT of app, SELECT of fault, SELECT of finished_at, SELECT of requested_at",
            "log.event: SELECT", "log.head: SELECT", "log.note_pages_ending(): EXECUTE",
            "log.note_phases(): EXECUTE", "log.opened_event: SELECT",
            "log.word: SELECT of counts_as, SELECT of id",
            "projection: USAGE",
            "projection.chosen_generation(): EXECUTE",
            "projection.delivered_day: SELECT",
            "projection.day_revision: INSERT, SELECT, UPDATE",
            "projection.generation: SELECT, UPDATE of readers, UPDATE of state",
            "projection.kept_day: DELETE, INSERT, SELECT, UPDATE", "projection.kept_state: SELECT",
            "projection.opened_delivery: SELECT", "projection.opened_install_day: SELECT",
            "projection.pressure_funnel: SELECT",
            "projection.progress: SELECT, UPDATE",
            "projection.projector: SELECT, UPDATE",
            "projection.sealed_delivery: SELECT, UPDATE of first_device_at, UPDATE of last_device_at",
            "projection.sealed_goal: SELECT",
            "projection.sealed_install_day: SELECT, UPDATE of first_device_at, UPDATE of last_device_at",
            "projection.stack_depth_funnel: SELECT",
            "projection.zone: INSERT, SELECT, UPDATE",
            "projection.zone_rules(): EXECUTE",
            "report: USAGE",
            "report.kept: SELECT of app, SELECT of day, SELECT of is_final, SELECT of made_at",
        ] + ProjectionTables.parents.map { "projection.\($0): DELETE, INSERT, SELECT, UPDATE" },
        "bellwether_analyst": views, TestPostgres.analyst: views,
        "bellwether_reporter": views + [
            "report: USAGE", "report.kept: INSERT, SELECT", "report.letter: INSERT, SELECT, UPDATE",
            "report.letter_round: SELECT, UPDATE", "report.take_turn(): EXECUTE",
            "report.told: INSERT, SELECT",
        ],
        "bellwether_look": views + [
            "log: USAGE", "log.app_ids_shown(): EXECUTE", "log.apps_shown(): EXECUTE", "log.note_reader_use(): EXECUTE",
            "log.reader_key: SELECT",
        ],
        TestPostgres.stranger: [],
    ]

    @Test("each role has exactly the rights of its work", arguments: expected.keys.sorted())
    func matrix(role: String) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let rights: [String] = try database.column(
            """
            WITH ours AS (
                SELECT oid, nspname FROM pg_namespace WHERE nspname = ANY (\(Self.schemas)::text[])
                    AND has_schema_privilege(\(role)::text::name, oid, 'USAGE')
            ), rights (object, privilege) AS (
                SELECT nspname::text, privilege FROM ours, unnest(ARRAY['USAGE', 'CREATE']) AS privilege
                WHERE has_schema_privilege(\(role)::text::name, ours.oid, privilege)
                UNION ALL
                SELECT nspname || '.' || relname, privilege FROM ours JOIN pg_class AS c ON c.relnamespace = ours.oid,
                    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
                        AS privilege
                WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT (nspname = 'projection' AND relispartition)
                    AND has_table_privilege(\(role)::text::name, c.oid, privilege)
                UNION ALL
                SELECT nspname || '.' || relname, privilege || ' of ' || attname
                FROM ours JOIN pg_class AS c ON c.relnamespace = ours.oid JOIN pg_attribute AS a ON a.attrelid = c.oid,
                    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS privilege
                WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND attnum > 0 AND NOT attisdropped
                    AND has_column_privilege(\(role)::text::name, c.oid, attnum, privilege)
                    AND NOT has_table_privilege(\(role)::text::name, c.oid, privilege)
                UNION ALL
                SELECT nspname || '.' || relname, privilege FROM ours JOIN pg_class AS c ON c.relnamespace = ours.oid,
                    unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS privilege
                WHERE relkind = 'S' AND has_sequence_privilege(\(role)::text::name, c.oid, privilege)
                UNION ALL
                SELECT nspname || '.' || proname || '()', 'EXECUTE' FROM ours
                    JOIN pg_proc AS p ON p.pronamespace = ours.oid
                WHERE has_function_privilege(\(role)::text::name, p.oid, 'EXECUTE')
            )
            SELECT object || ': ' || string_agg(privilege, ', ' ORDER BY privilege) FROM rights GROUP BY object
            ORDER BY object COLLATE "C"
            """)
        #expect(rights.sorted() == Self.expected[role]?.sorted())
    }

    @Test("the partitions of a projector's table give the rights that the table gives")
    func partitions() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let differing: [String] = try database.column(
            """
            SELECT part.relname FROM pg_inherits AS i
            JOIN pg_class AS part ON part.oid = i.inhrelid JOIN pg_class AS whole ON whole.oid = i.inhparent
            WHERE whole.relkind = 'p' AND whole.relnamespace = 'projection'::regnamespace
                AND part.relacl IS DISTINCT FROM whole.relacl
            """)
        #expect(differing == [])
    }

    @Test("the analyst reads every view of analytics and nothing behind them")
    func analyst() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        _ = try database.appender().append([app.submission([Event.sample()])])
        var analyst = try database.connect(as: TestPostgres.analyst)
        let views: [String] = try database.column(
            "SELECT relname FROM pg_class WHERE relnamespace = 'analytics'::regnamespace ORDER BY relname")
        #expect(views.count == Self.views.count { $0.hasPrefix("analytics.") })
        for view in views {
            #expect(throws: Never.self) { try analyst.query("SELECT * FROM analytics.\(identifier: view)") }
        }
        #expect(try analyst.query("SELECT FROM events").count == 1)
        let behind: [String] = try database.column(
            """
            SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
            WHERE nspname IN ('log', 'projection', 'bellwether', 'cluster', 'report', 'registry', 'sends')
                AND relkind IN ('r', 'p', 'v')
            """)
        #expect(behind.count > 10)
        for table in behind {
            let error = #expect(throws: PostgresError.self) { try analyst.execute(script: "SELECT FROM \(table)") }
            #expect(error?.state == .insufficientPrivilege, "\(table)")
        }
        var another = try database.connect()
        let process: Int32 = try another.query("SELECT pg_backend_pid()")[0].get(0)
        for script in [
            "CREATE TABLE analytics.mine ()", "CREATE TABLE public.mine ()", "DELETE FROM analytics.events",
            "SELECT log.open_gate()", "SET ROLE bellwether_ingest", "SET ROLE bellwether_reporter",
            "SET SESSION AUTHORIZATION bellwether_owner", "ALTER ROLE bellwether_analyst CREATEROLE",
            "ALTER ROLE bellwether_reader CONNECTION LIMIT -1",
            "ALTER ROLE bellwether_ingest LOGIN", "CREATE FUNCTION analytics.mine() RETURNS int RETURN 1",
            "CREATE OR REPLACE VIEW analytics.apps AS SELECT 1", "DROP VIEW analytics.apps", "CREATE SCHEMA mine",
            "LOCK TABLE analytics.apps IN EXCLUSIVE MODE", "COPY (SELECT 1) TO PROGRAM 'cat'",
            "COPY (SELECT 1) TO '/tmp/bellwether-mine'", "SELECT pg_read_file('/etc/passwd')",
            "SELECT pg_ls_dir('/')", "SELECT lo_import('/etc/passwd')", "SELECT pg_reload_conf()",
            "SELECT rolpassword FROM pg_authid",
            "SELECT pg_terminate_backend(\(process))",
        ] {
            // Apart: a script is one transaction, and begins as a session does.
            try analyst.execute(script: "SET default_transaction_read_only = off")
            let error = #expect(throws: PostgresError.self, "\(script)") { try analyst.execute(script: script) }
            #expect(error?.state != .readOnlyTransaction, "\(script)")
        }
        #expect(try another.query("SELECT").count == 1)
    }

    @Test("the analyst sees nothing of what others run")
    func activity() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var owner = try database.connect()
        try owner.query("SELECT 'nobody else''s business'")
        var analyst = try database.connect(as: TestPostgres.analyst)
        let seen = try analyst.query(
            """
            SELECT DISTINCT query FROM pg_stat_activity
            WHERE usename = \(TestPostgres.owner) AND datname = current_database()
            """)
        #expect(try seen.map { try $0.get(0, as: String.self) } == ["<insufficient privilege>"])
    }

    @Test("a stranger reads and writes nothing")
    func stranger() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var stranger = try database.connect(as: TestPostgres.stranger)
        for script in [
            "SELECT FROM analytics.events", "SELECT FROM log.event", "SELECT FROM bellwether.migration",
            "SET ROLE bellwether_analyst",
            "SET ROLE bellwether_ingest", "SELECT log.make_partition('2011-02-01')", "SELECT log.take_head(0)",
            "CREATE TABLE log.mine ()",
        ] {
            let error = #expect(throws: PostgresError.self) { try stranger.execute(script: script) }
            #expect(error?.state == .insufficientPrivilege, "\(script)")
        }
    }

    @Test("the functions that run with the owner's rights search no schema that others can write to")
    func searchPaths() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let open: [String] = try database.column(
            """
            SELECT proname FROM pg_proc WHERE pronamespace::regnamespace::text = ANY (\(Self.schemas)::text[])
                AND NOT coalesce(proconfig @> ARRAY['search_path=pg_catalog, pg_temp'], false)
            """)
        #expect(open == [])
    }

    @Test(
        "every view of analytics and every column of it has a comment, and those of events and funnels say what iOS never reports"
    )
    func comments() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let silent: [String] = try database.column(
            """
            SELECT c.relname || coalesce('.' || a.attname, '')
            FROM pg_class AS c LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'analytics'::regnamespace
                AND (coalesce(col_description(c.oid, a.attnum), '') = ''
                    OR coalesce(obj_description(c.oid, 'pg_class'), '') = '')
            """)
        #expect(silent == [])
        #expect(
            try database.value(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'analytics'::regnamespace AND relkind <> 'v'",
                as: Int64.self) == 0)
        let quiet: [String] = try database.column(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = 'analytics'::regnamespace
                AND obj_description(oid, 'pg_class') NOT LIKE '%What iOS never reports: a swipe or clear%'
            """)
        #expect(
            quiet.sorted() == [
                "app_batches", "apps", "batches", "categories", "client_drops", "data_quality", "experiment_days",
                "experiment_versions", "experiments", "fcm_export", "goals", "installs", "projections", "proofs",
                "rejected_events", "report_categories", "report_deliveries", "report_pages", "report_to_do", "reports",
                "sends",
                "story_day_pages",
                "story_pages",
            ])
        let differing: [String] = try database.column(
            """
            SELECT v.relname || '.' || a.attname FROM pg_class AS v JOIN pg_attribute AS a ON a.attrelid = v.oid
                AND a.attnum > 0
            JOIN pg_attribute AS e ON e.attrelid = 'analytics.events'::regclass AND e.attname = a.attname
            WHERE v.relnamespace = 'analytics'::regnamespace
                AND v.relname IN ('receipts', 'opens', 'action_taps', 'story_events')
                AND col_description(v.oid, a.attnum) <> col_description(e.attrelid, e.attnum)
            """)
        #expect(differing == [])
    }
}
