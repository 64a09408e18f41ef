import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing

@Suite("The laws of the funnels")
struct ProjectionLawsTests {
    @Test("hold in every snapshot that an analyst can take, while steps, rebuilds and new events go on")
    func always() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let traffic = try Traffic(seeds: 1...9, in: database)
        let reads = Lock(0)
        let hasEnded = Lock(false)
        let rebuilds = Lock(0)
        var configuration = Runner.Configuration(url: try database.url())
        configuration.mostEvents = 10
        configuration.interval = 0.005
        let runner = Runner(configuration, metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        defer { runner.stop() }
        try together(4) { thread in
            switch thread {
            case 0:
                defer { hasEnded.withLock { $0 = true } }
                let appender = try database.appender()
                // Each batch meets a reader, and there are rebuilds to the end.
                while try traffic.append(.random(in: 1...16), by: appender) {
                    let seen = reads.withLock { $0 }
                    try #require(reads.wait(until: .after(seconds: 60)) { $0 > seen ? true : nil } == true)
                }
                try #require(rebuilds.wait(until: .after(seconds: 60)) { $0 >= 3 ? true : nil } == true)
            case 1:
                var analyst = try database.connect(as: TestPostgres.analyst)
                var last: FunnelReading?
                while !hasEnded.withLock({ $0 }) {
                    analyst.deadline = .after(seconds: 30)
                    let reading = try FunnelReading(on: &analyst)
                    #expect(reading.broken == [])
                    // A silent delivery may turn out to be none, and never the other way round; none goes.
                    if let last {
                        #expect(reading.delivered >= last.delivered)
                        #expect(reading.delivered + reading.silent >= last.delivered + last.silent)
                    }
                    last = reading
                    reads.withLockNotifying { $0 += 1 }
                }
            case 2:
                // Lanes of half the shards each, which stand at different batches.
                let control = try database.projections(mostEvents: 10)
                while !hasEnded.withLock({ $0 }) {
                    let seen = reads.withLock { $0 }
                    #expect(try control.catchUp().stopped.isEmpty)
                    // Its connections end only after it has let them go: one round for each read is enough of them.
                    _ = reads.wait(until: .after(seconds: 5)) { $0 > seen ? true : nil }
                }
            default:
                let control = try database.projections()
                let all = [[], ["category_funnel", "story_page_funnel"], ["silent_funnel"]]
                while !hasEnded.withLock({ $0 }) {
                    let names = all[rebuilds.withLock { $0 } % all.count]
                    guard case .swapped = try control.rebuild(names) else {
                        Issue.record("not swapped")
                        return
                    }
                    rebuilds.withLockNotifying { $0 += 1 }
                }
            }
        }
        #expect(try database.projections().catchUp().stopped.isEmpty)
        #expect(reads.withLock { $0 } >= 20)
        try traffic.expectOracle()
        try database.expectLevel()
    }
}
