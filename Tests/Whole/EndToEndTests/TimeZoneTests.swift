import Glibc
import Postgres
import TestSupport
import Testing

@Suite("The time zone of an app is changed")
struct TimeZoneTests {
    private func days(_ shop: ProjectedShop) throws -> [String] {
        try shop.database.analystRows("SELECT day, delivered, opened FROM category_funnel ORDER BY day")
    }

    /// Three deliveries: at 03:00, 13:00 and 20:00 of 20 November in UTC.
    private func fill(_ shop: ProjectedShop) throws {
        for hour in ["03", "13", "20"] { try shop.post(Wire.id(), Wire.event(at: "2026-11-20T\(hour):00:00Z")) }
        #expect(try shop.bellwether.run("project", "--once").status == 0)
    }

    @Test("its deliveries move to the days of the new zone, how many is said, and what comes counts there")
    func change() throws {
        // A service beside would take its share of the moving, and the command could not say how many they were.
        try ProjectedShop.open("--only", "ingest", timeZone: "Asia/Bangkok") { shop in
            try fill(shop)
            #expect(try days(shop) == ["(2026-11-20,2,2)", "(2026-11-21,1,1)"])
            let changed = try shop.bellwether.run("app", "set", "shop", "--time-zone", "Pacific/Honolulu")
            #expect(changed.status == 0 && changed.output.isEmpty, "\(changed)")
            #expect(changed.messages.contains("'shop' are now counted in Pacific/Honolulu"), "\(changed)")
            #expect(changed.messages.contains("Deliveries moved to another day: 2"), "\(changed)")
            #expect(try days(shop) == ["(2026-11-19,1,1)", "(2026-11-20,2,2)"])
            #expect(try shop.bellwether.trusted("app", "list").contains("Pacific/Honolulu"))
            try shop.post(Wire.id(), Wire.event(at: "2026-11-20T09:59:00Z"))
            #expect(try shop.bellwether.run("project", "--once").status == 0)
            #expect(try days(shop) == ["(2026-11-19,2,2)", "(2026-11-20,2,2)"])
            try shop.expectProved()
            // The same zone once more moves nothing.
            let again = try shop.bellwether.run("app", "set", "shop", "--time-zone", "Pacific/Honolulu")
            #expect(again.status == 0 && again.messages.contains("another day: 0"), "\(again)")
            #expect(try shop.bellwether.run("rebuild").status == 0)
            #expect(try days(shop) == ["(2026-11-19,2,2)", "(2026-11-20,2,2)"])
        }
    }

    @Test("a zone that nobody knows is refused, and nothing has changed")
    func unknown() throws {
        try ProjectedShop.open(timeZone: "Asia/Bangkok") { shop in
            try fill(shop)
            let before = try days(shop)
            for zone in ["Mars/Olympus", "", "+25:00", "Asia/Bangkok; DROP TABLE x"] {
                let refused = try shop.bellwether.run("app", "set", "shop", "--time-zone", zone)
                #expect(refused.status == 1 && refused.messages.contains("time zone"), "\(zone) \(refused)")
            }
            #expect(try shop.bellwether.trusted("app", "list").contains("Asia/Bangkok"))
            let nobody = try shop.bellwether.run("app", "set", "nobody", "--time-zone", "UTC")
            #expect(nobody.status == 1 && nobody.messages.contains("nobody"), "\(nobody)")
            #expect(try days(shop) == before)
            try shop.expectProved()
        }
    }

    @Test(
        "a change that was killed shows in status, and is ended by a service, by project --once, or by setting the zone",
        arguments: [["serve", "--only", "project"], ["project", "--once"], ["app", "set", "shop"]])
    func interrupted(_ words: [String]) throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop)
            try kill("Pacific/Honolulu", in: shop)
            let told = try shop.bellwether.run("verify")
            #expect(told.status == 1 && told.output.contains("is being moved to zone Pacific/Honolulu"), "\(told)")
            let unfinished = "unfinished: the move of shop to days in Pacific/Honolulu"
            #expect(try shop.bellwether.trusted("status").contains(unfinished))
            switch words[0] {
            case "serve":
                let projector = try shop.bellwether.serve("--only", "project")
                let moved = try eventually { try !shop.bellwether.trusted("status").contains(unfinished) }
                #expect(moved)
                #expect(try projector.stop() == 0)
            case "app":
                #expect(try shop.bellwether.start(words + ["--time-zone", "Pacific/Honolulu"]).wait().status == 0)
            default: #expect(try shop.bellwether.start(words).wait().status == 0)
            }
            #expect(try days(shop) == ["(2026-11-19,1,1)", "(2026-11-20,2,2)"])
            #expect(try !shop.bellwether.trusted("status").contains("unfinished"))
            try shop.expectProved()
        }
    }

    @Test("a change that was killed and then taken back leaves every delivery on the day of the old zone")
    func takenBack() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop)
            let before = try days(shop)
            try kill("Pacific/Honolulu", in: shop)
            try shop.post(Wire.id(), Wire.event(at: "2026-11-20T03:00:00Z"))
            #expect(try days(shop) == before)
            #expect(try shop.bellwether.run("app", "set", "shop", "--time-zone", "UTC").status == 0)
            #expect(try shop.bellwether.run("project", "--once").status == 0)
            #expect(try days(shop) == ["(2026-11-20,4,4)"])
            try shop.expectProved()
        }
    }

    /// Sets a zone and kills the command before it could move a delivery.
    private func kill(_ zone: String, in shop: ProjectedShop) throws {
        var blocker = try shop.database.connect()
        try blocker.execute(script: "BEGIN; SELECT FROM projection.progress FOR UPDATE")
        let command = try shop.bellwether.start(["app", "set", "shop", "--time-zone", zone])
        let begun = eventually { command.messages.contains("are now counted in \(zone)") }
        #expect(begun)
        command.signal(SIGKILL)
        try command.wait()
        try blocker.execute(script: "COMMIT")
    }
}
