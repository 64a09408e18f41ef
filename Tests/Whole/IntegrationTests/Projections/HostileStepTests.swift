import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

/// What an attacker with a write key can make of the steps that all apps share.
@Suite("Steps over what somebody made to hold them up")
struct HostileStepTests {
    @Test("an event changes a few cells, however many pages its story is said to have")
    func cells() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let events = 400
        _ = try appender.append([
            app.submission(
                (0..<events).map { number in
                    Event.sample(
                        install: .random(), category: "category \(number)",
                        interaction: .storyStarted(StoryStart(pageCount: 1_000)))
                })
        ])
        _ = try database.projections().catchUp()
        let cells = try ProjectionTables.parents.reduce(Int64(0)) { sum, table in
            sum + (try database.value("SELECT count(*) FROM projection.\(identifier: table)", as: Int64.self))
        }
        #expect(cells <= 8 * Int64(events))
        #expect(
            try database.analystRows(
                "SELECT count(*), sum(planned), sum(reached), min(page_index), max(page_index) FROM story_page_funnel")
                == ["(\(events * 1_000),\(events * 1_000),0,0,999)"])
        try database.expectProved()
    }

    @Test("deliveries that do not fit together are taken part by part, and counted once")
    func parts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let installs = (0..<12).map { _ in UUID.random() }
        // A story's pages make states of some kilobytes, all of which the next batch touches.
        for round in 0..<2 {
            _ = try appender.append(
                installs.map { install in
                    app.submission(
                        (0..<(round == 0 ? 60 : 1)).map { number in
                            Event.sample(
                                at: Event.sampleTime + Int64(round * 100 + number) * 1_000_000, install: install,
                                interaction: .pageShown(PageShown(pageIndex: Int16(number))))
                        })
                })
        }
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 10_000, log: .silent)
        (stepper.limits.bytes, stepper.limits.cells) = (4_000, 50)
        #expect(try stepper.step(upTo: 1, mostShards: 16, on: &connection).events == 12 * 60)
        #expect(try stepper.step(upTo: 2, mostShards: 16, on: &connection).events == 12)
        #expect(try stepper.step(upTo: 2, mostShards: 16, on: &connection).events == 0)
        try database.expectLevel()
        try database.expectProved()

        // One at least is read, and what is left keeps its order.
        let table = DeliveryTable(
            number: 1, secret: try database.value("SELECT secret FROM projection.generation"))
        let names = try Delivery.Name.all(
            try connection.query("SELECT notification_key, install_id, app, shard FROM projection.opened_delivery"))
        let news = names.map { DeliveryNews(key: table.key(of: $0), name: $0) }
        let part = try table.read(news, atMost: 1, on: &connection)
        #expect(part.stored.map { $0?.delivery.name } == [names[0]] + names.dropFirst().map { _ in nil })
        #expect(part.left == Array(1..<names.count))
    }

    @Test("who cannot take a single batch in the time there is stops there, and the others go on")
    func tooSlow() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.appendReceipts(1...3, of: try database.makeApp())
        try database.makeSlow("thread_funnel")
        var connection = try database.session(.projector)
        try connection.execute(script: "SET statement_timeout = '200ms'")
        // Two lanes of one runner, in turns. What one of them found to be slow, the other need not find again.
        let care = StepCare()
        var lanes = (0..<2).map { _ in
            var stepper = Stepper(choice: .live, mostEvents: 100, sharing: care, log: .silent)
            stepper.limits.patience = 1
            return stepper
        }
        // First all batches, then one, then one with patience.
        for lane in 0..<2 {
            #expect(throws: StepError.self) { try lanes[lane].step(upTo: 3, mostShards: 16, on: &connection) }
            // Looking for work and finding none is no sign that the slow step would be quick now.
            for lane in lanes.indices {
                for _ in 0..<40 { _ = try lanes[lane].step(upTo: 0, mostShards: 16, on: &connection) }
            }
        }
        while case .moved = try lanes[0].step(upTo: 3, mostShards: 16, on: &connection) {}
        let stopped = try database.projections().stopped()
        #expect(stopped.map(\.name) == ["thread_funnel"])
        #expect(stopped.first?.batch == 1)
        #expect(
            try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel", as: Int64.self) == 3)
    }

    @Test("a batch of many statements that are slow, but each within its time, is taken")
    func slowInAll() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.appendReceipts(1...3, of: try database.makeApp())
        let tables = ["thread_funnel", "category_funnel", "version_funnel", "campaign_funnel"]
        for table in tables { try database.makeSlow(table, seconds: 1) }
        var connection = try database.session(.projector)
        try connection.execute(script: "SET statement_timeout = '300ms'")
        var stepper = Stepper(choice: .live, mostEvents: 100, log: .silent)
        stepper.limits.patience = 3
        for _ in 0..<2 {
            #expect(throws: StepError.self) { try stepper.step(upTo: 3, mostShards: 16, on: &connection) }
        }
        let begun = Deadline.now
        guard case .moved = try stepper.step(upTo: 3, mostShards: 16, on: &connection) else {
            Issue.record("it did not move")
            return
        }
        // Patience is for each statement, and not for all of them.
        #expect(Deadline.now.seconds(since: begun) > 3)
        #expect(try database.projections().stopped().isEmpty)
    }

    @Test("care lasts until what was slow has moved on, however well other shards do")
    func care() {
        let care = StepCare()
        care.raise(above: .none, at: 41)
        for number in 42..<100 as Range<Int64> { care.noteGoodStep(from: number, to: number + 1) }
        #expect(care.level(at: 41) == .oneBatch && care.level(at: 99) == .none)
        care.raise(above: care.level(at: 41), at: 41)
        #expect(care.level(at: 41) == .patience)
        // Another lane began its step when less was known.
        care.raise(above: .none, at: 41)
        #expect(care.level(at: 41) == .patience)
        for number in 41..<57 as Range<Int64> { care.noteGoodStep(from: number, to: number + 1) }
        #expect(care.level(at: 57) == .oneBatch)
        for number in 57..<73 as Range<Int64> { care.noteGoodStep(from: number, to: number + 1) }
        #expect(care.level(at: 73) == .none)
    }

    @Test("who cannot take a batch is found also by steps that are small since others were slow")
    func afterSlowSteps() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.appendReceipts(1...3, of: try database.makeApp())
        try database.makeSlow("thread_funnel")
        var connection = try database.session(.projector)
        try connection.execute(script: "SET statement_timeout = '200ms'")
        var stepper = Stepper(choice: .live, mostEvents: 100, log: .silent)
        #expect(throws: StepError.self) { try stepper.step(upTo: 3, mostShards: 16, on: &connection) }
        // Now it fails for good instead.
        try database.run(
            """
            CREATE OR REPLACE FUNCTION public.sleep() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE 'never' USING ERRCODE = '22000'; END $$
            """)
        while case .moved = try stepper.step(upTo: 3, mostShards: 16, on: &connection) {}
        #expect(try database.projections().stopped().map(\.name) == ["thread_funnel"])
        #expect(try database.value("SELECT sum(delivered)::bigint FROM analytics.category_funnel", as: Int64.self) == 3)
    }

    @Test("a runner stops soon, whatever its steps wait for, and what they did is undone")
    func stopping() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.appendReceipts(1...3, of: try database.makeApp())
        try database.makeSlow("thread_funnel")
        let runner = Runner(
            Runner.Configuration(url: try database.url()), metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        #expect(
            try eventually {
                try database.value(
                    """
                    SELECT count(*) = 1 FROM pg_stat_activity
                    WHERE wait_event = 'PgSleep' AND datname = current_database()
                    """)
            })
        // It returns long before the step would.
        runner.stop(patience: 0.2)
        #expect(try database.value("SELECT max(position) FROM projection.progress", as: Int64.self) == 0)
        #expect(try database.projections().stopped().isEmpty)
    }

    @Test("erasure waits for its turn behind steps, longer than anybody else would")
    func erasure() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let install = UUID.random()
        _ = try database.appender().append([app.submission([Event.sample(install: install)])])
        _ = try database.projections().catchUp()
        var step = try database.connect()
        try step.execute(script: "BEGIN; SELECT FROM projection.progress FOR UPDATE")
        let control = try database.projections()
        let receipt = Lock<ErasureRun.Summary?>(nil)
        let worker = Worker(name: "erasure") {
            let made = try? ErasureRun(control).run(app: app.id, install: install)
            receipt.withLock { $0 = made }
        }
        // The session's own limit is ten seconds.
        #expect(
            try eventually {
                try database.value(
                    """
                    SELECT count(*) = 1 FROM pg_stat_activity
                    WHERE wait_event_type = 'Lock' AND datname = current_database()
                        AND query_start < clock_timestamp() - interval '11 s'
                    """)
            })
        try step.execute(script: "ROLLBACK")
        worker.join()
        #expect(receipt.withLock { $0 }?.own.deliveries == 1)
    }

    @Test("a projection that is behind and has not moved for a minute is called stalled")
    func stalled() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.appendReceipts(1...1, of: try database.makeApp())
        let status = "SELECT DISTINCT status FROM projections"
        #expect(try database.analystRows(status) == ["(running)"])
        try database.run("UPDATE projection.progress SET moved_at = now() - interval '2 min'")
        #expect(try database.analystRows(status) == ["(running)"])
        try database.run(
            "BEGIN; SELECT log.open_gate(); UPDATE log.batch SET committed_at = now() - interval '2 min'; COMMIT")
        #expect(try database.analystRows(status) == ["(stalled)"])
        // Also while other shards move, since each funnel has only what all of them have.
        try database.run("UPDATE projection.progress SET position = 1, moved_at = now() WHERE shard <> 0")
        #expect(try database.analystRows(status) == ["(stalled)"])
        try database.run("UPDATE projection.progress SET position = 0 WHERE shard <> 0")
        #expect(try database.projections().catchUp().head == 1)
        #expect(try database.analystRows(status) == ["(running)"])
    }
}

extension Stepper.StepResult {
    fileprivate var events: Int64 { if case .moved(let events) = self { events } else { 0 } }
}

extension TestDatabase {
    /// Makes writing to a funnel of the live generation take longer than anybody waits.
    fileprivate func makeSlow(_ table: String, seconds: Int = 3600) throws {
        try run(
            """
            CREATE OR REPLACE FUNCTION public.sleep() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_sleep(\(seconds)); RETURN NEW; END $$;
            CREATE TRIGGER sleep BEFORE INSERT
                ON projection.\(table)_1 FOR EACH STATEMENT EXECUTE FUNCTION public.sleep()
            """)
    }
}
