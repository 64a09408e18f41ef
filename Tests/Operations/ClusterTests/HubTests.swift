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
            SELECT concat_ws(' ', c.relname, a.attname, a.atttypid::regtype, col_description(c.oid, a.attnum), obj_description(c.oid))
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

    @Test("a day of an app is asked of all cells side by side, and each adds up its own")
    func pushedDown() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        for view in [
            "category_funnel", "category_actions", "campaign_funnel", "story_page_funnel", "send_delays",
            "stack_depth_funnel", "category_version_funnel", "hour_funnel", "device_hour_funnel", "pressure_funnel",
            "deliveries",
        ] {
            // A bare current_date would stay here, and all days come.
            for day in ["'2026-11-20'", "(SELECT current_date - 1)"] {
                let question = "EXPLAIN (VERBOSE) SELECT * FROM analytics.\(view) WHERE app = 'chat' AND day = \(day)"
                let plan: [String] = try hub.column(Statement(question))
                let scans = plan.filter { $0.contains("Foreign Scan on") }
                #expect(scans.count >= 3 && scans.allSatisfy { $0.contains("Async Foreign Scan") }, "\(view): \(scans)")
                for query in plan where query.contains("Remote SQL") && !query.contains("message_delivery") {
                    #expect(query.contains("(app = ") && query.contains("(day = "), "\(view): \(query)")
                }
            }
        }
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
        #expect(try cluster.add(name: "cell-4", url: try ThreeCells.place(of: fourth)).isEmpty)
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
