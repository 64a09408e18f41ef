import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing

@Suite("The projections")
struct ProjectionTests {
    @Test("funnels folded batch by batch from random histories are what the oracle makes of them")
    func histories() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let shops = try ShopHistory.histories(seeds: 1...40, in: database)
        var random = SeededNumbers(seed: 7)
        let appender = try database.appender()
        var control = ProjectionControl(url: try database.url(), log: .silent)
        control.mostEvents = 50
        var waiting = shops.flatMap { shop in shop.events.map { (shop, $0) } }
        while !waiting.isEmpty {
            let count = Int.random(in: 1...60, using: &random)
            let part = waiting.prefix(count)
            _ = try appender.append(part.map { shop, event in shop.apps[event.app]!.submission([event.event]) })
            waiting.removeFirst(part.count)
            if Int.random(in: 0..<4, using: &random) == 0 { _ = try control.catchUp() }
        }
        #expect(try control.catchUp().stopped.isEmpty)
        #expect(try database.value("SELECT count(*) FROM projection.delivery", as: Int64.self) > 100)
        let views = FunnelRows(of: database)
        for shop in shops { try shop.expectOracle(in: views) }
    }
}
