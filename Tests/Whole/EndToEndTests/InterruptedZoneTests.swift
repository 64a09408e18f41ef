import Postgres
import TestSupport
import Testing

@Suite("A change of an app's time zone that was interrupted")
struct InterruptedZoneTests {
    /// From the commit that changes the zone to the last delivery that moves.
    private static let points = [
        "zone changed", "steps of the old zone ended", "days of installs moved", "installs moved", "deliveries moving",
        "deliveries moved",
    ]

    /// Days that are in the old zone are half of all.
    private func fill(_ shop: ProjectedShop) throws {
        for hour in ["03", "13", "20"] { try shop.post(Wire.id(), Wire.event(at: "2026-11-20T\(hour):00:00Z")) }
        _ = try shop.bellwether.trusted("project", "--once")
    }

    /// Verification says what is unfinished and what finishes it, and calls nothing a difference.
    private func expectUnfinished(_ bellwether: Bellwether, _ zone: String, _ point: String) throws {
        let verified = try bellwether.run("verify")
        #expect(verified.status == 1, "\(point): \(verified)")
        #expect(verified.output.contains("App shop is being moved to zone \(zone)"), "\(point): \(verified)")
        #expect(verified.output.contains("project --once"), "\(point): \(verified)")
        #expect(!verified.output.contains("differ"), "\(point): \(verified)")
        let told = try bellwether.run("verify", "--since", "2026-11-20", "--format", "json")
        #expect(told.output.contains(#""differing_cells":{}"#) && told.output.contains(#""app":"shop""#), "\(told)")
        let status = try bellwether.trusted("status")
        #expect(status.contains("unfinished: the move of shop to days in \(zone)"), "\(point): \(status)")
    }

    private func expectFinished(_ bellwether: Bellwether, _ point: String) throws {
        let projected = try bellwether.run("project", "--once")
        #expect(projected.status == 0, "\(point): \(projected)")
        let verified = try bellwether.run("verify")
        #expect(verified.status == 0 && verified.output.contains("Verified"), "\(point): \(verified)")
        #expect(try !bellwether.trusted("status").contains("unfinished"), "\(point)")
    }

    @Test("killed anywhere it is told by verify, project --once finishes it, and so it does in a backup of that moment")
    func killed() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop)
            let zones = ["Pacific/Honolulu", "Pacific/Kiritimati"]
            for (place, point) in Self.points.enumerated() {
                let zone = zones[place % 2]
                let command = ["app", "set", "shop", "--time-zone", zone]
                let ended = try shop.bellwether.dying(at: point).start(command).wait()
                #expect(ended.status == 128 + 9, "\(point): \(ended)")
                // Which come on the days of the new zone.
                try shop.post(Wire.id(), Wire.event(at: "2026-11-20T13:00:00Z"))
                try expectUnfinished(shop.bellwether, zone, point)
                if point == "deliveries moving" { try expectRestored(shop, zone) }
                try expectFinished(shop.bellwether, point)
            }
            let rows = try shop.database.analystRows("SELECT day, delivered FROM category_funnel ORDER BY day")
            #expect(rows == ["(2026-11-20,1)", "(2026-11-21,8)"])
        }
    }

    private func expectRestored(_ shop: ProjectedShop, _ zone: String) throws {
        let restored = try TestDatabase.make(.empty)
        defer { restored.drop() }
        let script = """
            pg_dump --format=custom '\(try shop.database.url())' | pg_restore --exit-on-error --dbname='\(try restored.url())'
            """
        let ended = try ChildProcess.run(["bash", "-o", "pipefail", "-euc", script], within: 120)
        #expect(ended.status == 0, "\(ended)")
        let bellwether = try Bellwether(restored)
        try expectUnfinished(bellwether, zone, "restored")
        try expectFinished(bellwether, "restored")
    }
}
