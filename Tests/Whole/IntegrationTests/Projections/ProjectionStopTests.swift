import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("A projection that fails")
struct ProjectionStopTests {
    private let poison = "POISON"

    /// Has the table refuse the cell of that category.
    private func refuse(_ app: TestApp, in database: TestDatabase, table: String) throws {
        let word: Int32 = try database.value(
            "SELECT id FROM log.learn_words(\(app.id), \(WordKind.category.rawValue), \([poison]), '{1}', \([UUID.random()]), 1000, 1000, 1000)"
        )
        try database.run("ALTER TABLE projection.\(table) ADD CONSTRAINT refused CHECK (category <> \(word))")
    }

    private func delivered(_ view: String, in database: TestDatabase) throws -> Int64 {
        // The view's name is this test's own.
        let sql: String = "SELECT coalesce(sum(delivered), 0)::bigint FROM analytics.\(view)"
        return try database.value(Statement(sql))
    }

    /// The category funnel holds all before that batch in every shard, and no more in the one where it stopped; others
    /// may have been ahead of it.
    private func expectCounted(
        before batch: Int64, shard: Int16, in database: TestDatabase, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let wrong: [String] = try database.column(
            """
            SELECT format('shard %s: %s counted, %s before the stop', shard, coalesce(f.counted, 0),
                coalesce(e.before, 0))
            FROM (
                SELECT e.shard, count(*) FILTER (WHERE b.number < \(batch)) AS before
                FROM log.opened_event AS e JOIN log.batch AS b ON b.id = e.batch_id GROUP BY e.shard
            ) AS e FULL JOIN (
                SELECT shard, sum(delivered) AS counted FROM projection.category_funnel GROUP BY shard
            ) AS f USING (shard)
            WHERE coalesce(f.counted, 0) < e.before OR shard = \(shard) AND coalesce(f.counted, 0) <> e.before
            """)
        #expect(wrong == [], sourceLocation: sourceLocation)
    }

    @Test("stops alone at exactly the batch that it cannot take, however many a step has, and the others go on")
    func alone() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel_1")
        try database.appendReceipts(1...400, of: app, in: [277: (1, poison)])
        let lines = LogLines()
        let stopped = try database.projections(mostEvents: 20_000, log: lines.log).catchUp().stopped
        #expect(stopped.map(\.name) == ["category_funnel"] && stopped.map(\.batch) == [277])
        #expect(stopped.first?.reason.contains("violates check constraint") == true)
        #expect(lines.all.contains { $0.contains("a projection has stopped") && $0.contains("277") })
        try expectCounted(before: 277, shard: 1, in: database)
        #expect(try delivered("thread_funnel", in: database) == 400)
        let told: [String] = try database.column(
            "SELECT concat_ws(' ', name, status, stopped_batch, position, lag) FROM analytics.projections WHERE name IN ('category_funnel', 'media_funnel') ORDER BY name"
        )
        #expect(told == ["category_funnel stopped 277 276 124", "media_funnel running 400 0"])
        var connection = try database.session(nil)
        let report = try Verifier().verify(on: &connection)
        #expect(report.differing.isEmpty && report.omissions.map(\.projector) == ["category_funnel"])
    }

    @Test("holds every batch before the one it stopped at, in those shards too that stood far behind")
    func behind() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel_1")
        try database.appendReceipts(1...60, of: app, in: [41: (1, poison)])
        var connection = try database.session(.projector)
        // The poisoned shard goes ahead; the rest has not begun.
        var others = try database.connect()
        try others.execute(script: "BEGIN")
        try others.query("SELECT FROM projection.progress WHERE shard <> 1 FOR UPDATE")
        var stepper = Stepper(choice: .live, mostEvents: 1_000, log: .silent)
        for _ in 0..<60 { _ = try stepper.step(upTo: 60, mostShards: 16, on: &connection) }
        try others.execute(script: "ROLLBACK")
        let control = try database.projections(mostEvents: 7)
        #expect(try control.stopped().map(\.batch) == [41])
        #expect(try control.catchUp().stopped.map(\.batch) == [41])
        #expect(try delivered("category_funnel", in: database) == 40)
        #expect(try delivered("version_funnel", in: database) == 60)
    }

    @Test("changes of all shards leave it as it is where some are past its stop and others are not")
    func ragged() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel_1")
        // One delivery has an event on either side of where its shard will stand.
        let install = UUID.install(in: 3)
        let appender = try database.appender()
        try database.appendReceipts(1...9, of: app)
        let receipt = Event.sample(install: install, interaction: .received(Receipt()))
        _ = try appender.append([app.submission([receipt])])
        try database.appendReceipts(11...29, of: app)
        let opened = Event.sample(at: Event.sampleTime + 7, install: install, interaction: .opened(launch: nil))
        _ = try appender.append([app.submission([opened])])
        try database.appendReceipts(31...60, of: app, in: [41: (1, poison)])
        var connection = try database.session(nil)
        var others = try database.connect()
        try others.execute(script: "BEGIN")
        try others.query("SELECT FROM projection.progress WHERE shard NOT IN (9, 10) FOR UPDATE")
        var stepper = Stepper(choice: .live, mostEvents: 1_000, log: .silent)
        for _ in 0..<60 { _ = try stepper.step(upTo: 60, mostShards: 16, on: &connection) }
        try others.execute(script: "ROLLBACK")
        // A few batches of the others, so that there is something to move in shards before the stop.
        _ = try stepper.step(upTo: 20, mostShards: 7, on: &connection)
        try connection.transaction { connection throws(PostgresError) in
            try ZoneChange.remember(app.slug, on: &connection)
            try connection.query("UPDATE log.app SET time_zone = 'Pacific/Pago_Pago' WHERE slug = \(app.slug)")
        }
        for change in try ZoneChange.pending(.recorded, on: &connection) { _ = try change.make(on: &connection) }
        let control = try database.projections()
        #expect(try control.catchUp().stopped.map(\.name) == ["category_funnel"])
        let days: [String] = try database.column("SELECT DISTINCT day::text FROM analytics.deliveries")
        #expect(days == ["2026-11-19"])
        #expect(
            try database.value(
                "SELECT bool_and(opened <= delivered AND unanswered >= 0) FROM projection.category_funnel"))
        #expect(try delivered("version_funnel", in: database) == 59)
        try control.rebuild(["category_funnel"]).expectSwapped()
        try database.expectLevel()
        #expect(try delivered("category_funnel", in: database) == 59)
    }

    @Test("names the first of the batches that it cannot take, whichever lane met it first")
    func first() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel_1")
        try database.appendReceipts(1...30, of: app, in: [12: (3, poison)])
        try database.appendReceipts(31...60, of: app, in: [41: (1, poison)])
        var holder = try database.connect()
        try holder.execute(script: "BEGIN")
        try holder.query("SELECT FROM projection.progress WHERE shard = 3 FOR UPDATE")
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 1_000, log: .silent)
        for _ in 0..<60 { _ = try stepper.step(upTo: 60, mostShards: 16, on: &connection) }
        #expect(try database.projections().stopped().map(\.batch) == [41])
        try holder.execute(script: "ROLLBACK")
        #expect(try database.projections().catchUp().stopped.map(\.batch) == [12])
        try expectCounted(before: 12, shard: 3, in: database)
        #expect(try delivered("version_funnel", in: database) == 60)
    }

    @Test("tells the metrics; made anew it is exact, goes on, and nobody reads it half built")
    func resumed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel_1")
        try database.appendReceipts(1...40, of: app, in: [23: (2, poison)])
        let metrics = Metrics()
        let runner = Runner(.init(url: try database.url()), metrics: metrics, log: .silent, isWell: { true })
        runner.start()
        defer { runner.stop() }
        let gauge = "bellwether_projection_stopped{projection=\"category_funnel\"} 23"
        #expect(eventually { metrics.render().contains(gauge) })
        #expect(try eventually { try delivered("thread_funnel", in: database) == 40 })
        let seen = Lock<Set<Int64>>([])
        // What refused stands on the old table only.
        let outcome = try database.projections().rebuild(["category_funnel"]) { _ in
            if let sum = try? delivered("category_funnel", in: database) { seen.withLock { _ = $0.insert(sum) } }
        }
        outcome.expectSwapped()
        #expect(seen.withLock { $0 }.isSubset(of: [22, 40]) && seen.withLock { $0 }.contains(22))
        #expect(try delivered("category_funnel", in: database) == 40)
        try database.appendReceipts(41...50, of: app)
        #expect(try eventually { try delivered("category_funnel", in: database) == 50 })
        #expect(eventually { !metrics.render().contains("bellwether_projection_stopped{") })
        try database.expectLevel()
    }

    @Test("whose cause persists ends its rebuild too, which leaves all as it was and nothing behind")
    func persists() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try refuse(app, in: database, table: "category_funnel")
        try database.appendReceipts(1...40, of: app, in: [23: (2, poison)])
        let control = try database.projections()
        #expect(try control.catchUp().stopped.map(\.batch) == [23])
        let counted = try delivered("category_funnel", in: database)
        for names in [["category_funnel"], []] {
            guard case .stopped(let stopped) = try control.rebuild(names) else {
                Issue.record("went on")
                return
            }
            #expect(stopped.map(\.name) == ["category_funnel"] && stopped.map(\.batch) == [23])
            #expect(try database.generations() == ["1 live"])
            #expect(try database.tables() == [1] && database.tables(of: "delivery") == [1])
        }
        #expect(try delivered("category_funnel", in: database) == counted)
        try expectCounted(before: 23, shard: 2, in: database)
        try database.run("ALTER TABLE projection.category_funnel DROP CONSTRAINT refused")
        try control.rebuild(["category_funnel"]).expectSwapped()
        try database.expectLevel()
        #expect(try delivered("category_funnel", in: database) == 40)
    }
}
