import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Somebody holds locks")
struct LockFaultTests {
    @Test("an analyst can lock nothing against anybody; what he reads for long puts off partitions, and nothing else")
    func analyst() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let load = shop.load(on: service)
        #expect(load.isServed())
        var analyst = try shop.database.connect(as: TestPostgres.analyst)
        let things: [String] = try shop.database.column(
            """
            SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
            WHERE relkind IN ('r', 'p', 'v') AND nspname IN ('analytics', 'log', 'projection', 'report', 'registry',
                'sends')
            """)
        #expect(things.count > 60)
        for thing in things {
            for mode in ["ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "ACCESS EXCLUSIVE"] {
                // From 16 on who may read may also take the lock of SELECT FOR UPDATE, which stands in nobody's way
                // here.
                if mode == "ROW SHARE", analyst.serverVersion >= 160_000 { continue }
                let error = #expect(throws: PostgresError.self) {
                    try analyst.execute(script: "BEGIN; LOCK TABLE \(thing) IN \(mode) MODE NOWAIT")
                }
                #expect(error?.state == .insufficientPrivilege, "\(thing) \(mode) \(String(describing: error))")
                try analyst.execute(script: "ROLLBACK")
            }
        }

        // All that he can: what a SELECT takes, as long as his transaction may stay open.
        try analyst.execute(
            script: "BEGIN; LOCK TABLE analytics.events, analytics.category_funnel IN ACCESS SHARE MODE")
        // Of a month that nobody has sent anything of so far.
        let month = Date(timeIntervalSinceNow: -300 * 86_400).ISO8601Format().prefix(7)
        let late = Wire.id()
        let envelope = Wire.envelope(Wire.event(id: late, at: "\(month)-10T10:00:00Z"))
        #expect(try service.client().post(envelope, key: shop.app.secret).results.accepted == 1)
        let end = Deadline.after(seconds: FaultLength.seconds(2))
        repeat { #expect(load.isServed(50)) } while !end.hasPassed
        #expect(load.refusals == 0)
        let partition: Statement =
            "SELECT count(*) FROM pg_class WHERE relname = \("event_" + month.replacing("-", with: "_"))"
        #expect(try shop.database.value(partition, as: Int64.self) == 0)
        try analyst.execute(script: "ROLLBACK")
        #expect(try eventually { try shop.database.value(partition, as: Int64.self) == 1 })
        try Laws.check(load, url: shop.database.url(), others: [late])
        #expect(try service.stop() == 0)
    }

    @Test("an owner's lock on the log turns everybody away in time, and everything goes on when it is gone")
    func owner() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let load = shop.load(clients: 8, on: service)
        #expect(load.isServed())
        var owner = try shop.database.connect()
        try owner.execute(script: "BEGIN; LOCK TABLE log.event IN ACCESS EXCLUSIVE MODE")
        #expect(load.isRefused(8))
        let served = load.acknowledgements
        let end = Deadline.after(seconds: FaultLength.seconds(0))
        while !end.hasPassed { #expect(load.isRefused(8)) }
        #expect(load.acknowledgements == served && load.brokenConnections == 0)
        #expect(try service.client().get("/healthz").status == 200)
        owner.deadline = .after(seconds: 60)
        try owner.execute(script: "ROLLBACK")
        #expect(load.isServed(50))
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }
}
