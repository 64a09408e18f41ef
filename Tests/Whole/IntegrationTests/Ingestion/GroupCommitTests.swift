import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@testable import Ingestion

@Suite("What one commit takes")
struct GroupCommitTests {
    @Test("a commit takes 2,000 rows at most, of the apps that wait by turns")
    func bounded() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, neighbour) = (try database.makeApp("greedy"), try database.makeApp("neighbour"))
        var configuration = GroupCommit.Configuration()
        configuration.writers = 1
        let commits = GroupCommit(
            configuration, appender: Appender.Configuration(url: try database.url(), node: "test"),
            months: PartitionRequests(), log: .silent, metrics: IngestionMetrics(Metrics()))
        commits.start()
        defer { commits.stop() }
        #expect(eventually { commits.isConnected })

        let accepted = Lock(0)
        let submit: (TestApp, Int) throws -> Void = { app, count in
            let submission = app.submission((0..<count).map { _ in Event.sample() })
            let part = GroupCommit.Part(destination: 0, writer: 0, submission: submission, bytes: 100) { fate in
                if case .committed(let verdicts) = fate { accepted.withLock { $0 += verdicts.count } }
            }
            try commits.reserve([part])
            commits.enqueue([part])
        }
        // The first commit waits for the head of the log; meanwhile the others gather.
        var holder = try database.connect()
        try holder.execute(script: "BEGIN; SELECT FROM log.head FOR UPDATE")
        try submit(app, 1)
        #expect(try database.hasWaiters(1))
        for _ in 0..<12 { try submit(app, 500) }
        try submit(neighbour, 1)
        try holder.execute(script: "COMMIT")
        #expect(eventually { accepted.withLock { $0 } == 6_002 })
        let sizes: [Int32] = try database.column("SELECT events FROM log.batch ORDER BY number")
        // The neighbour's came last and is in the next commit all the same.
        #expect(sizes == [1, 1_501, 2_000, 2_000, 500])
        #expect(
            try database.value(
                "SELECT number FROM log.batch_tally AS t JOIN log.batch AS b ON b.id = t.batch_id WHERE app = \(neighbour.id)",
                as: Int64.self) == 2)
    }
}
