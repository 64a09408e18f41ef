import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("One phase of the work takes long")
struct PhaseFaultTests {
    private struct Finding: Decodable {
        let check: String
        let status: String
        let what: String
        let runbook: String?
    }

    /// What doctor says of a check.
    private func examine(_ shop: Shop, _ check: String) throws -> Finding? {
        let ended = try shop.bellwether.run("doctor", "--format", "json")
        return try JSONDecoder().decode([Finding].self, from: Data(ended.output.utf8)).first { $0.check == check }
    }

    @Test(
        "whoever holds up a phase of the funnels' steps, doctor names it, and status and the metrics have its time",
        arguments: [("cells", "category_funnel", "category_funnel_"), ("write", "deliveries", "delivery_")])
    func steps(phase: String, projector: String, table: String) throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let load = shop.load(on: service)
        #expect(load.isServed())
        #expect(try eventually { try examine(shop, "steps")?.status == "ok" })
        let number: Int32 = try shop.database.value(
            """
            SELECT tables_generation FROM projection.projector
            WHERE generation = projection.chosen_generation(NULL) AND name = \(projector)
            """)
        var owner = try shop.database.connect()
        // Reading goes on, writing does not.
        try owner.execute(script: "BEGIN; LOCK TABLE projection.\(table)\(number) IN SHARE MODE")
        var said: Finding?
        let isSaid = try eventually {
            said = try examine(shop, "steps")
            return said?.status == "warn"
        }
        #expect(isSaid)
        #expect(said?.what.contains(" % of the time of their steps goes into \(phase): ") == true, "\(said as Any)")
        #expect(said?.runbook == "Docs/Runbook.md#the-funnels-are-behind")
        let status = try shop.bellwether.trusted("status")
        let line = try Regex("(?m)^step .*  \(phase) ([5-9][0-9]|100) %")
        #expect(status.contains(line), "\(status)")
        owner.deadline = .after(seconds: 60)
        try owner.execute(script: "ROLLBACK")
        #expect(load.isServed())
        try Laws.check(load, url: shop.database.url())
        // A step that was held up has ended.
        let metrics = try service.client().get("/metrics").body
        let pattern = try Regex("bellwether_projection_phase_seconds_sum\\{phase=\"\(phase)\"\\} ([0-9.]+)")
        let sum = try #require(metrics.firstMatch(of: pattern))
        #expect(Double(sum.output[1].substring ?? "") ?? 0 > 4)
        #expect(try eventually { try examine(shop, "steps")?.status == "ok" })
        #expect(try service.stop() == 0)
    }

    @Test(
        "whoever holds up a phase of the commits, doctor names it",
        arguments: [
            ("copy", "LOCK TABLE log.event IN SHARE MODE"), ("number", "SELECT FROM log.head FOR UPDATE"),
        ])
    func commits(phase: String, lock: String) throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve("--only", "ingest")
        let load = shop.load(on: service)
        #expect(load.isServed())
        #expect(try eventually { try examine(shop, "commits")?.status == "ok" })
        var owner = try shop.database.connect()
        try owner.execute(script: "BEGIN; \(lock)")
        var said: Finding?
        let isSaid = try eventually {
            said = try examine(shop, "commits")
            return said?.status == "warn" && said?.what.contains(" % of that goes into \(phase): ") == true
        }
        #expect(isSaid, "\(said as Any)")
        #expect(said?.runbook == "Docs/Runbook.md#commits-are-slow-or-fail")
        owner.deadline = .after(seconds: 60)
        try owner.execute(script: "ROLLBACK")
        #expect(load.isServed(50))
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }
}
