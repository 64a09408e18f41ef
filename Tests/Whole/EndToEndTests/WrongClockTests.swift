import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A server whose clock is wrong")
struct WrongClockTests {
    /// As if it had been committed that much later than now.
    private func commit(_ seconds: Int, in database: TestDatabase) throws {
        try database.run(
            """
            INSERT INTO log.batch (number, id, node, events, shard_events, committed_at)
            SELECT coalesce(max(number), 0) + 1, nextval('log.batch_id'), 'test', 0, array_fill(0, ARRAY[16]),
                now() + interval '\(seconds) s'
            FROM log.batch
            """)
    }

    @Test("takes nothing and says why, until the clocks agree again or an operator says that they do")
    func takesNothing() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve()
        let client = service.client()
        #expect(try client.post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        try commit(3600, in: database)
        #expect(try eventually { try client.get("/readyz").status == 503 })
        let unready = try client.get("/readyz").problem
        #expect(unready?.detail.contains("behind the last commit of the log") == true, "\(String(describing: unready))")
        let answer = try client.post(Wire.envelope(Wire.event()), key: app.secret)
        #expect(answer.status == 503 && answer["retry-after"] == "30", "\(answer)")
        #expect(answer.problem?.code == "wrong_clock")
        #expect(answer.problem?.detail.contains("behind the last commit of the log") == true, "\(answer)")
        #expect(try client.get("/metrics").body.contains("bellwether_clock_trusted 0"))
        #expect(service.log.contains("no events are accepted while the clocks disagree"))
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 1)
        // Neither is anything dropped by it.
        let retain = try bellwether.run("retain", "--days", "1")
        #expect(retain.status == 1 && retain.messages.contains("nothing was dropped"), "\(retain)")
        // An operator who knows better.
        let trusting = try bellwether.serve("--trust-clock")
        #expect(try trusting.client().post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        // Which commits, and so mends the other one, too.
        try service.waitUntilReady()
        #expect(try client.post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        #expect(try trusting.stop() == 0)
        #expect(try service.stop() == 0)
    }
}
