import Clusters
import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("A hub over three cells")
struct HubTests {
    @Test("every view shows the same rows as one database with the same events, and has the same columns and comments")
    func same() throws {
        let both = try HubAndWhole()
        defer { both.drop() }
        try both.compareViews()
        for database in [both.whole, both.hub] { try BoundViews(database).check() }
        let columns: Statement = """
            SELECT concat_ws(' ', c.relname, a.attname, a.atttypid::regtype, col_description(c.oid, a.attnum),
                obj_description(c.oid))
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'analytics'::regnamespace ORDER BY c.relname, a.attnum
            """
        #expect(try both.hub.column(columns, of: String.self) == both.whole.column(columns))
        try reportsAreSame(both)
    }

    /// A report of the hub says what one of the whole says, and waits for every cell.
    private func reportsAreSame(_ both: HubAndWhole) throws {
        let (app, day): (String, String) = try {
            var connection = try both.whole.connect()
            let row = try connection.query(
                "SELECT app, day::text FROM analytics.category_funnel GROUP BY 1, 2 ORDER BY sum(delivered) DESC, 1, 2 LIMIT 1"
            )
            return (try row[0].get(0), try row[0].get(1))
        }()
        let words = ["report", "--app", app, "--date", day, "--format", "csv", "--wait", "0s"]
        func lines(_ database: TestDatabase) throws -> [Substring] {
            let ended = try Bellwether(database).start(words).wait(within: 60)
            #expect(ended.status == 0, "\(ended.messages)")
            return ended.output.split(whereSeparator: \.isNewline).map { line in
                // app, day, position
                let fields = line.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
                return fields.count == 4 ? fields[3] : line
            }
        }
        let found = try lines(both.hub)
        let wanted = try lines(both.whole)
        #expect(found == wanted && found.count > 20, "\(Set(found).symmetricDifference(wanted)) \(wanted.count)")
        let appender = try both.cells.databases[1].appender()
        _ = try appender.append([both.cells.app.submission([Event.sample()])])
        let late = try Bellwether(both.hub).run(
            "report", "--app", "chat", "--date", "today", "--wait", "0s")
        #expect(late.status != 0 && late.messages.contains("1 batch"), "\(late.messages)")
    }

    /// Views that have another text on a hub. In a database they are made of its own rows; on a hub those are in the
    /// cells, and come one after another, or are put together otherwise than by adding up what was counted.
    private static let made = [
        "action_taps", "app_batches", "apps", "batches", "client_drops", "data_quality", "deliveries", "events",
        "goals", "opens", "projections", "proofs", "receipts", "rejected_events", "story_events",
    ]

    @Test("every funnel has the same text as in one database; no view has another one without a reason")
    func sameText() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        let whole = try TestDatabase.make()
        defer {
            cells.drop()
            hub.drop()
            whole.drop()
        }
        let texts: Statement = """
            SELECT relname || ': ' || pg_get_viewdef(oid) FROM pg_class
            WHERE relnamespace = 'analytics'::regnamespace AND relkind = 'v' ORDER BY 1
            """
        let (here, there): ([String], [String]) = (try whole.column(texts), try hub.column(texts))
        #expect(here.count == there.count && here.count >= 50)
        let others = Set(here).symmetricDifference(there).compactMap { $0.split(separator: ":").first.map(String.init) }
        #expect(Set(others).sorted() == Self.made)
        // What those texts name is there in both, with the same columns.
        let counted: Statement = """
            SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attcollation::regcollation)
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'counted'::regnamespace ORDER BY c.relname, a.attnum
            """
        #expect(try hub.column(counted, of: String.self) == whole.column(counted))
    }

    /// Views, and how many questions each may ask of a cell: what it counted, once. The campaigns of an export's
    /// messages are those of their deliveries, which takes a second one on days that have such messages.
    private static let questions = [
        "category_funnel": 1, "category_actions": 1, "category_answers": 1, "campaign_funnel": 2, "story_funnel": 1,
        "story_page_funnel": 1, "thread_funnel": 1, "version_funnel": 1, "silent_funnel": 1, "media_funnel": 1,
        "send_delays": 1, "install_days": 1, "muted_after": 1, "stack_depth_funnel": 1, "category_version_funnel": 1,
        "hour_funnel": 1, "device_hour_funnel": 1, "pressure_funnel": 1, "deliveries": 1,
    ]

    @Test("a day of an app is asked of all cells side by side, once, and each adds up its own")
    func pushedDown() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        for (view, questions) in Self.questions {
            // A bare current_date would stay here, and all days come.
            for day in ["'2026-11-20'", "(SELECT current_date - 1)"] {
                let question = "EXPLAIN (VERBOSE) SELECT * FROM analytics.\(view) WHERE app = 'chat' AND day = \(day)"
                let plan: [String] = try hub.column(Statement(question))
                let scans = plan.filter { $0.contains("Foreign Scan on") }
                #expect(
                    scans.count == 3 * questions && scans.allSatisfy { $0.contains("Async Foreign Scan") },
                    "\(view): \(scans)")
                for query in plan where query.contains("Remote SQL") && !query.contains("message_delivery") {
                    #expect(query.contains("(app = ") && query.contains("(day = "), "\(view): \(query)")
                }
            }
        }
    }

    @Test("a funnel of a day puts one statement to each cell; with messages of an export on that day, a second one")
    func asked() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        /// Scans of foreign tables that ran.
        func scans(_ view: String) throws -> Int {
            let question = """
                EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM analytics.\(view) WHERE app = 'chat' AND day = '2026-11-20'
                """
            let plan: [String] = try hub.column(Statement(question))
            return plan.count { $0.contains("Foreign Scan on") && !$0.contains("never executed") }
        }
        for view in Self.questions.keys { #expect(try scans(view) == 3, "\(view)") }
        var connection = try hub.connect()
        try connection.execute(
            script: """
                INSERT INTO sends.fcm_message (first_at, app, accepted, delivered, is_data, message_key, instance_id,
                    analytics_label)
                SELECT '2026-11-20 10:00+00', id, true, false, false, '1795165500001', 'i', '' FROM log.app
                WHERE slug = 'chat'
                """)
        #expect(try scans("campaign_funnel") == 6)
    }

    @Test("what comes over of a funnel is a row a cell, however many shards and installs were counted")
    func addedUp() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        for (place, database) in cells.databases.enumerated() {
            let installs = (0..<20).map { _ in cells.install(of: place) }.compactMap { Values.UUID($0) }
            _ = try database.appender().append([
                cells.app.submission(installs.map { Event.sample(install: $0) })
            ])
            #expect(try ProjectionControl(url: database.url(), log: .silent).catchUp().stopped.isEmpty)
            let cellsOfFunnel = try database.value("SELECT count(*) FROM projection.category_funnel", as: Int64.self)
            #expect(cellsOfFunnel > 2)
        }
        let plan: [String] = try hub.column(
            "EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM analytics.category_funnel WHERE app = 'chat' AND day = '2026-11-20'"
        )
        let rows = plan.filter { $0.contains("Async Foreign Scan on \"category_funnel@") }.compactMap { line in
            line.matches(of: /\(actual rows=(\d+)/).last.map { String($0.output.1) }
        }
        #expect(rows == ["1", "1", "1"], "\(plan.joined(separator: "\n"))")
    }

    @Test("a cell that does not answer is an error that names it, never a smaller number")
    func away() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        var analyst = try hub.connect(as: TestPostgres.analyst)
        try analyst.query("SELECT * FROM analytics.category_funnel")
        try cells.close(1)
        for view in ["category_funnel", "campaign_funnel", "events", "apps"] {
            let error = #expect(throws: PostgresError.self) {
                try analyst.query("SELECT * FROM analytics.\(identifier: view)")
            }
            #expect(error.map { "\($0)" }?.contains("\"cell-2\"") == true, "\(error.map { "\($0)" } ?? "")")
        }
        try cells.open(1)
        #expect(throws: Never.self) { try analyst.query("SELECT * FROM analytics.category_funnel") }
    }

    @Test(
        "a cell that is added later is read too; a hub gets no shards, and an owner who may not reach others is told what to do"
    )
    func later() throws {
        let cells = try ThreeCells()
        let (hub, fourth, second) = (try cells.makeHub(), try TestDatabase.make(.empty), try TestDatabase.make(.empty))
        defer {
            cells.drop()
            for database in [hub, fourth, second] { database.drop() }
        }
        let cluster = try cells.cluster()
        #expect(throws: ClusterError.self) { try cluster.move([0], to: "hub") }
        #expect(try cluster.add(name: "cell-4", url: try ThreeCells.place(of: fourth)).untold.isEmpty)
        #expect(try cluster.move([3], to: "cell-4").isEmpty)
        #expect(
            try hub.column("SELECT DISTINCT srvname::text FROM pg_foreign_server ORDER BY 1") == [
                "cell-1", "cell-2", "cell-3", "cell-4",
            ])
        do {
            _ = try cluster.add(name: "other", url: try ThreeCells.place(of: second), isHub: true)
            Issue.record("nobody permitted it")
        } catch { #expect("\(error)".contains("CREATE EXTENSION IF NOT EXISTS postgres_fdw; GRANT")) }
        #expect(cluster.map.cells.count == 5)
    }
}
