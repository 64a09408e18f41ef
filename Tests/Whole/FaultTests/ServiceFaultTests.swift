import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The service is stopped")
struct ServiceFaultTests {
    @Test("SIGTERM under load ends with 0 and loses nothing that was acknowledged, time and again")
    func terminated() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        var service = try bellwether.serve()
        let load = Load(on: service, key: app.secret)
        for _ in 0..<3 {
            #expect(load.isServed())
            #expect(try service.stop() == 0)
            service = try bellwether.serve()
            load.turn(to: service)
        }
        #expect(load.isServed())
        try Laws.check(load, url: database.url())
        #expect(try service.stop() == 0)
    }

    @Test("SIGTERM while requests wait for their commit: each is answered, new ones find no door")
    func drained() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        var blocker = try database.connect()
        try blocker.execute(script: "BEGIN; LOCK TABLE log.batch IN ACCESS EXCLUSIVE MODE")
        let clients = try (0..<20).map { _ in
            let client = try RawClient(port: service.port)
            client.sendEnvelope(Wire.envelope(Wire.event()), key: app.secret)
            return client
        }
        let observer = service.client()
        let parked = try eventually { try observer.get("/metrics").body.contains("bellwether_requests_in_flight 21\n") }
        #expect(parked)
        service.process.signal(SIGTERM)
        let closed = eventually { (try? RawClient(port: service.port)) == nil }
        #expect(closed)
        try blocker.execute(script: "COMMIT")
        for client in clients { #expect(try client.answer().results.accepted == 1) }
        #expect(try service.process.wait().status == 0)
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 20)
    }

    @Test(
        "two services on one database, or two that ingest and two that project, sent the same envelopes at once, store each event once and never fail",
        arguments: [[[]], [["--only", "ingest"], ["--only", "project"]]])
    func crossed(_ parts: [[String]]) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let services = try parts.flatMap { part in try (0..<2).map { _ in try Bellwether(database).serve(part) } }
        defer { for service in services { _ = try? service.stop() } }
        let ids = (0..<300).map { _ in (id: Wire.id(), install: Wire.id()) }
        let accepted = Lock(0)
        // Each client sends everything in an order of its own, in envelopes of a size of its own.
        try together(4) { number in
            let client = services[number % 2].client()
            let order = ids.shuffled()
            for start in stride(from: 0, to: order.count, by: 7 + number) {
                let events = order[start..<min(start + 7 + number, order.count)].map { event in
                    Wire.event(id: event.id, more: #""source":{"install_id":"\#(event.install)"}"#)
                }
                let answer = try client.post(Wire.envelope(events), key: app.secret)
                let results = try answer.results
                #expect(results.accepted + results.duplicate == events.count)
                accepted.withLock { $0 += results.accepted }
            }
        }
        #expect(accepted.withLock { $0 } == ids.count)
        let stored: [String] = try database.column("SELECT event_id::text FROM log.event")
        #expect(stored.count == ids.count && Set(stored) == Set(ids.map(\.id)))
        #expect(try database.becomesLevel())
        try Laws.checkFunnels(url: database.url())
    }
}
