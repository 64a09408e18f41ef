import Postgres
import ServiceRuntime
import TestSupport
import Testing

@testable import Projections

@Suite("Rebuilding the projections")
struct ProjectionRebuildTests {
    private static let all = ["deliveries"] + Projectors.all.map { $0.name }

    /// A database with histories, folded up to the head.
    private func folded(_ seeds: ClosedRange<UInt64> = 1...6) throws -> (TestDatabase, Traffic, ProjectionControl) {
        let database = try TestDatabase.make()
        let traffic = try Traffic(seeds: seeds, in: database)
        try traffic.appendRest()
        let control = try database.projections()
        #expect(try control.catchUp().stopped.isEmpty)
        return (database, traffic, control)
    }

    @Test("one, several and all are made anew with the numbers they had, and the old tables are gone")
    func numbers() throws {
        let (database, traffic, control) = try folded()
        defer { database.drop() }
        try control.rebuild(["media_funnel"]).expectSwapped(left: 0)
        #expect(try database.tables(of: "media_funnel") == [2])
        try control.rebuild(["category_actions", "story_page_funnel"]).expectSwapped(left: 0)
        #expect(try database.tables(of: "category_action_times") == [3])
        #expect(try database.tables(of: "story_page_funnel") == [3])
        #expect(try database.tables(of: "category_funnel") == [1] && database.tables(of: "delivery") == [1])
        #expect(try database.generations() == ["1 live"])
        try traffic.expectOracle()
        try database.expectLevel()
        try control.rebuild().expectSwapped(left: 0)
        #expect(try database.generations() == ["4 live"])
        for table in ProjectionTables.parents {
            #expect(try database.tables(of: table) == [4], "\(table)")
        }
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("a cell that somebody has changed is right again")
    func tampered() throws {
        let (database, traffic, control) = try folded()
        defer { database.drop() }
        try database.run(
            """
            UPDATE projection.category_funnel SET delivered = delivered + 5;
            DELETE FROM projection.thread_funnel;
            UPDATE projection.delivery SET flags = 0
            """)
        try control.rebuild(["category_funnel"]).expectSwapped()
        var connection = try database.session(nil)
        #expect(try Set(Verifier().verify(on: &connection).differing.map(\.table)) == ["delivery", "thread_funnel"])
        try control.rebuild(["deliveries"]).expectSwapped()
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("beside a running service and new events, all ends level and exact, whichever is rebuilt")
    func live() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...12, in: database)
        let runner = Runner(
            .init(url: try database.url()), metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        defer { runner.stop() }
        let control = try database.projections()
        let appender = try database.appender()
        for names in [[], ["version_funnel"], ["silent_funnel", "thread_funnel"], []] {
            let most = traffic.left / 3
            _ = try traffic.append(most, by: appender)
            let outcome = try control.rebuild(names) { phase in
                // Between its reads and its swap too.
                guard case .folding = phase else {
                    if let other = try? database.appender() { _ = try? traffic.append(2, by: other) }
                    return
                }
            }
            outcome.expectSwapped()
        }
        try traffic.appendRest()
        #expect(try control.catchUp().stopped.isEmpty)
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("cut short, it goes on with the same generation from where it was")
    func continued() throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        #expect(throws: (any Error).self) {
            _ = try control.rebuild(["story_funnel"]) { phase in
                if case .verifying = phase { _ = try? database.kill("rebuild") }
            }
        }
        #expect(try database.generations() == ["1 live", "2 building"])
        let seen = Lock<[Int64]>([])
        let outcome = try control.rebuild(["story_funnel"]) { phase in
            if case .folding(let position, _) = phase { seen.withLock { $0.append(position) } }
        }
        outcome.expectSwapped()
        #expect(seen.withLock { $0.first } == head)
        #expect(try database.tables(of: "story_funnel") == [2] && database.generations() == ["1 live"])
        // And from the midst of the log.
        var connection = try database.session(nil)
        let generation = try GenerationBuilder.begin(Projectors.all, on: &connection)
        var stepper = Stepper(choice: .building(generation), mostEvents: 20, log: .silent)
        for _ in 0..<5 { _ = try stepper.step(upTo: head, mostShards: 3, on: &connection) }
        #expect(
            try database.value("SELECT max(position) FROM projection.progress WHERE generation = 3", as: Int64.self) > 0
        )
        try control.rebuild().expectSwapped()
        #expect(try database.generations() == ["3 live"])
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("a rebuild of others gives up one that was begun, which starts again and ends well")
    func givenUp() throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        let isFirst = Lock(true)
        let outcome = try control.rebuild(["story_funnel"]) { phase in
            guard case .verifying(shard: 3, _) = phase, isFirst.turned() else { return }
            #expect(throws: Never.self) { try control.rebuild().expectSwapped() }
        }
        outcome.expectSwapped()
        try database.expectRetiredGone()
        #expect(try database.generations() == ["3 live"])
        #expect(try database.tables(of: "story_funnel") == [4] && database.tables() == [3])
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("two of the same at once both end well", arguments: [[], ["category_funnel", "media_funnel"]])
    func twice(names: [String]) throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        try together(2) { _ in try control.rebuild(names).expectSwapped() }
        try database.expectRetiredGone()
        #expect(try database.tables().count == 1 && database.tables(of: "delivery").count == 1)
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test(
        "one that ends in the midst of another's verification does not stop that one",
        arguments: [[], ["media_funnel"]])
    func overtaken(names: [String]) throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        let isFirst = Lock(true)
        let outcome = try control.rebuild(names) { phase in
            guard case .verifying(shard: 3, _) = phase, isFirst.turned() else { return }
            #expect(throws: Never.self) { try control.rebuild(names).expectSwapped() }
        }
        outcome.expectSwapped()
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("what does not hold what the log says is not swapped in, and the next one makes it anew")
    func differs() throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        var connection = try database.session(nil)
        let generation = try GenerationBuilder.begin([CategoryFunnel.self], on: &connection)
        try database.run(
            """
            CREATE FUNCTION public.add_one() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN NEW.delivered := NEW.delivered + 1; RETURN NEW; END $$;
            CREATE TRIGGER add_one BEFORE INSERT ON projection.category_funnel_\(generation)
            FOR EACH ROW EXECUTE FUNCTION public.add_one()
            """)
        guard case .differs(let report, isSwapped: false) = try control.rebuild(["category_funnel"])
        else {
            Issue.record("swapped in what is wrong")
            return
        }
        #expect(report.differing.map(\.table) == ["category_funnel"])
        #expect(try !database.generations().contains("2 building"))
        try database.expectLevel()
        try control.rebuild(["category_funnel"]).expectSwapped()
        #expect(try database.generations() == ["1 live"] && database.tables().count == 1)
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("old tables stay while a reader holds them, who keeps his numbers, and go with the next one")
    func heldTables() throws {
        let (database, traffic, control) = try folded(1...4)
        defer { database.drop() }
        var reader = try database.connect(as: TestPostgres.analyst)
        let query: Statement = "SELECT array_agg(f::text ORDER BY f::text) FROM analytics.category_funnel AS f"
        try reader.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let before: [String] = try reader.query(query)[0].get(0)
        try control.rebuild().expectSwapped(left: Self.all.count)
        let after: [String] = try reader.query(query)[0].get(0)
        #expect(after == before && !before.isEmpty)
        #expect(try database.tables() == [1, 2])
        try reader.execute(script: "COMMIT")
        try control.rebuild(["media_funnel"]).expectSwapped()
        #expect(try database.tables() == [2] && database.generations() == ["2 live"])
        try traffic.expectOracle()
    }

    @Test(
        "an analyst whose snapshot is older than the swap keeps his numbers of a funnel that he reads only afterwards",
        arguments: [[], ["category_funnel"]])
    func olderSnapshot(names: [String]) throws {
        let (database, _, control) = try folded(1...4)
        defer { database.drop() }
        var reader = try database.connect(as: TestPostgres.analyst)
        var other = try database.connect(as: TestPostgres.analyst)
        try reader.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
        let before = try FunnelReading(on: &other)
        #expect(before.broken == [] && before.delivered > 0)
        try control.rebuild(names).expectSwapped(left: names.isEmpty ? Self.all.count : 2)
        #expect(try FunnelReading(within: &reader) == before)
        try reader.execute(script: "COMMIT")
        try control.rebuild(names).expectSwapped()
        #expect(try database.generations().count == 1 && database.tables().count == 1)
    }

    @Test("one funnel is made anew also when nobody follows the log: the live ones are brought level first")
    func nobodyFollows() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...3, in: database)
        try traffic.appendRest()
        let control = try database.projections()
        try control.rebuild(["media_funnel"]).expectSwapped()
        try traffic.expectOracle()
        try database.expectLevel()
        // And one that the live generation had lost is back.
        try database.run("DELETE FROM projection.projector WHERE name = 'thread_funnel'")
        try control.rebuild(["thread_funnel"]).expectSwapped()
        #expect(try database.generations() == ["1 live"])
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("tables of an older version stop until they are made anew; the others go on")
    func olderVersion() throws {
        let (database, traffic, control) = try folded(1...3)
        defer { database.drop() }
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        try database.run("UPDATE projection.projector SET version = 0 WHERE name = 'category_funnel'")
        let more = try Traffic(seeds: 11...13, in: database)
        try more.appendRest()
        let stopped = try control.catchUp().stopped
        #expect(stopped.map(\.name) == ["category_funnel"] && stopped.map(\.batch) == [head + 1])
        #expect(stopped.first?.reason.contains("version 0") == true)
        try control.rebuild(["category_funnel"]).expectSwapped()
        let version: Int32 = try database.value(
            "SELECT version FROM analytics.projections WHERE name = 'category_funnel'")
        #expect(version == 1)
        for traffic in [traffic, more] { try traffic.expectOracle() }
        try database.expectLevel()
    }

    @Test(
        "nothing moves under a program that is older than the tables, and it says so",
        arguments: ["deliveries", "media_funnel"])
    func newerVersion(name: String) throws {
        let (database, traffic, control) = try folded(1...1)
        defer { database.drop() }
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        let version: Int32 = try database.value("SELECT version FROM projection.projector WHERE name = \(name)")
        try database.run("UPDATE projection.projector SET version = 99 WHERE name = '\(name)'")
        let more = try Traffic(seeds: 11...11, in: database)
        try more.appendRest()
        #expect { try control.catchUp() } throws: { "\($0)".contains("\(name) are of version 99") }
        #expect(try database.value("SELECT max(position) FROM projection.progress", as: Int64.self) == head)
        #expect(try control.stopped().isEmpty)
        try database.run("UPDATE projection.projector SET version = \(version) WHERE name = '\(name)'")
        #expect(try control.catchUp().stopped.isEmpty)
        for traffic in [traffic, more] { try traffic.expectOracle() }
        try database.expectLevel()
    }
}

extension Lock where State == Bool {
    /// Whether it was true; it never is again.
    fileprivate func turned() -> Bool {
        withLock { value in
            defer { value = false }
            return value
        }
    }
}
