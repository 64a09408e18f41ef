import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Following the log")
struct ProjectionRunnerTests {
    /// So many events of 1,000 deliveries on any installs, in batches of 500: much to do at once.
    private func appendMuch(_ events: Int, of app: TestApp, to database: TestDatabase) throws {
        let appender = try database.appender()
        let installs = (0..<1_000).map { _ in UUID.random() }
        for start in stride(from: 0, to: events, by: 500) {
            let batch = (start..<(start + 500)).map { number in
                Event.sample(
                    at: Event.sampleTime + Int64(number), install: installs[number % installs.count],
                    category: "C\(number % 7)",
                    interaction: number % 3 == 0 ? .received(Receipt(via: .serviceExtension)) : .opened(launch: .cold))
            }
            _ = try appender.append([app.submission(batch)])
        }
    }

    private func runner(
        of database: TestDatabase, mostEvents: Int64, metrics: Metrics = Metrics()
    ) throws -> Runner {
        var configuration = Runner.Configuration(url: try database.url())
        configuration.mostEvents = mostEvents
        configuration.interval = 0.01
        configuration.much = 4_000
        return Runner(configuration, metrics: metrics, log: .silent, isWell: { true })
    }

    private func isLevel(_ database: TestDatabase) throws -> Bool {
        try database.value(
            "SELECT min(position) = (SELECT max(number) FROM log.batch) FROM projection.progress")
    }

    @Test("two runners of two lanes fold each event once between them")
    func once() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try appendMuch(8_000, of: try database.makeApp(), to: database)
        let metrics = [Metrics(), Metrics()]
        let runners = try metrics.map { try runner(of: database, mostEvents: 150, metrics: $0) }
        for runner in runners { runner.start() }
        #expect(try eventually { try isLevel(database) })
        for runner in runners { runner.stop() }
        #expect(metrics.compactMap { $0.count("bellwether_projected_events_total") }.reduce(0, +) == 8_000)
        try database.expectLevel()
    }

    @Test("events that come one after another are gathered before they are folded, few or many", arguments: [1, 50])
    func gathering(together count: Int64) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let metrics = Metrics()
        var configuration = Runner.Configuration(url: try database.url())
        configuration.lanes = 1
        if count > 1 { configuration.few = count }
        let runner = Runner(configuration, metrics: metrics, log: .silent, isWell: { true })
        let began = Deadline.now
        runner.start()
        defer { runner.stop() }
        var appended: Int64 = 0
        while began.nanoseconds + 3_000_000_000 > Deadline.now.nanoseconds {
            let events = (0..<count).map { Event.sample(at: Event.sampleTime + appended + $0) }
            _ = try appender.append([app.submission(events)])
            appended += count
        }
        #expect(try eventually { try isLevel(database) })
        let seconds = Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
        let steps = try #require(metrics.count("bellwether_projection_steps_total"))
        #expect(appended > 10 * count)
        let apart = count == 1 ? configuration.gathering : configuration.pace
        #expect(Double(steps) <= seconds / apart + 2, "\(appended) events in \(seconds) s")
        try database.expectLevel()
    }

    @Test("two runners and a command at once, beside writers that repeat each other, end exact")
    func together() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let traffic = try Traffic(seeds: 31...50, in: database)
        try appendMuch(5_000, of: try database.makeApp("much"), to: database)
        let runners = try (0..<2).map { _ in try runner(of: database, mostEvents: 100) }
        for runner in runners { runner.start() }
        let control = try database.projections(mostEvents: 60)
        try TestSupport.together(4) { thread in
            if thread == 0 {
                while traffic.left > 0 {
                    let left = traffic.left
                    #expect(try control.catchUp().stopped.isEmpty)
                    _ = eventually(within: 5) { traffic.left < left || left == 0 }
                }
            } else {
                try traffic.appendRest(upTo: 30)
            }
        }
        #expect(try control.catchUp().stopped.isEmpty)
        for runner in runners { runner.stop() }
        try traffic.expectOracle()
        try database.expectLevel()
    }

    @Test("a runner whose connections are cut again and again resumes and counts nothing twice")
    func cutRunner() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try appendMuch(6_000, of: try database.makeApp(), to: database)
        let runner = try runner(of: database, mostEvents: 40)
        runner.start()
        defer { runner.stop() }
        var cuts = 0
        var last: Int64 = 0
        var finished = false
        let end = Deadline.after(seconds: 60)
        while !finished, !end.hasPassed {
            // After each cut there is progress before the next, which then meets a step.
            let sum: Int64 = try database.value("SELECT sum(position)::bigint FROM projection.progress")
            if sum > last {
                last = sum
                cuts += try database.kill("projections")
            }
            finished = try isLevel(database)
        }
        #expect(cuts > 15)
        #expect(finished)
        try database.expectLevel()
    }

    @Test("a command whose connections are cut more often than it would try in vain gets through")
    func cutCommand() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try appendMuch(5_000, of: try database.makeApp(), to: database)
        let catchUp = CatchUp(
            url: try database.url(), role: .projector, choice: .live, lanes: 2, mostEvents: 25, log: .silent,
            cancellation: Cancellation())
        let isDone = Lock(false)
        let cuts = Lock(0)
        try TestSupport.together(2) { thread in
            if thread == 0 {
                defer { isDone.withLock { $0 = true } }
                try catchUp.run(to: 10)
            } else {
                var last: Int64 = 0
                let end = Deadline.after(seconds: 60)
                while !end.hasPassed, !isDone.withLock({ $0 }), cuts.withLock({ $0 }) < 30 {
                    let sum: Int64 = try database.value("SELECT sum(position)::bigint FROM projection.progress")
                    // After each cut there is progress before the next.
                    guard sum > last else { continue }
                    last = sum
                    let cut = try database.kill("catching up")
                    cuts.withLock { $0 += cut }
                }
            }
        }
        #expect(cuts.withLock { $0 } > 20)
        try database.expectLevel()
    }

    @Test("a step whose position somebody else has moved meanwhile stores nothing")
    func overtaken() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try database.appendReceipts(1...9, of: app)
        // While a funnel is written, one shard moves.
        try database.run(
            """
            CREATE FUNCTION public.overtake() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            AS $$ BEGIN UPDATE projection.progress SET position = 4 WHERE shard = 3; RETURN NULL; END $$;
            CREATE TRIGGER overtake AFTER INSERT ON projection.category_funnel_1 EXECUTE FUNCTION public.overtake()
            """)
        var connection = try database.session(.projector)
        var stepper = Stepper(choice: .live, mostEvents: 100, log: .silent)
        #expect {
            try stepper.step(upTo: 9, mostShards: 16, on: &connection)
        } throws: { error in
            if case StepError.overtaken = error { true } else { false }
        }
        let stored: Int64 = try database.value(
            """
            SELECT (SELECT count(*) FROM projection.delivery) + (SELECT count(*) FROM projection.category_funnel)
                + (SELECT max(position) FROM projection.progress)
            """)
        #expect(stored == 0)
        try database.run("DROP TRIGGER overtake ON projection.category_funnel_1")
        #expect(try database.projections().catchUp().stopped.isEmpty)
        try database.expectLevel()
    }
}

extension Metrics {
    /// The value of a counter without labels; nil if there is none.
    fileprivate func count(_ name: String) -> Int? {
        render().split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Int($0.split(separator: " ")[1]) }
    }
}
