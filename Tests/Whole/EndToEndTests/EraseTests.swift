import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("An install is erased")
struct EraseTests {
    private let install = Wire.id()
    private let other = Wire.id()

    /// Two installs with the same notifications, one of them with a refused event and a report of dropped ones.
    private func fill(_ shop: ProjectedShop) throws {
        for install in [install, other] { try shop.postDeliveries(of: install) }
        try shop.postLosses(of: install)
        #expect(try shop.becomesLevel())
    }

    private func wordsBrought(_ shop: ProjectedShop) throws -> [Substring] {
        let listed = try shop.bellwether.trusted(
            "words", "list", "--app", "shop", "--member", "category", "--install", install)
        return Array(listed.split(separator: "\n").dropFirst())
    }

    @Test("nothing of it is left in the log or in a funnel, the receipt says so, and what comes late is refused")
    func erase() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            #expect(try !wordsBrought(shop).isEmpty)
            let head: Int64 = try shop.database.value("SELECT max(number) FROM log.batch")
            let ended = try shop.bellwether.run("erase", "--app", "shop", "--install", install.uppercased())
            #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
            let lines = ended.output.split(separator: "\n")
            #expect(lines.first == "Erased install \(install) of app shop", "\(ended)")
            #expect(lines.count > 4 && lines[1].hasSuffix(", as batch \(head + 1)"), "\(ended)")
            for (name, count) in [
                ("events", "3"), ("deliveries", "2"), ("rejected events", "1"), ("drop reports", "1 no longer name it"),
            ] {
                #expect(lines.contains { $0.hasPrefix(name) && $0.hasSuffix(" \(count)") }, "\(ended)")
            }
            for view in ["events", "deliveries", "rejected_events", "client_drops"] {
                #expect(
                    try shop.database.analystRows("SELECT FROM \(view) WHERE install_id = '\(install)'").isEmpty,
                    "\(view)")
            }
            #expect(try shop.database.analystRows("SELECT delivered, opened FROM category_funnel") == ["(1,1)"])
            #expect(try shop.database.analystRows("SELECT taps FROM category_actions") == ["(1)"])
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(1)"])
            try shop.expectProved()
            #expect(try wordsBrought(shop).isEmpty)

            let late = try shop.send(install, [Wire.event()])
            #expect(late.results.map(\.reason) == ["erased"], "\(late)")
            // It may come back with what it does from now on; the other one was never touched.
            try shop.post(
                install,
                Wire.event(at: Date(timeIntervalSinceNow: 1).ISO8601Format(.init(includingFractionalSeconds: true))))
            try shop.post(other, Wire.event())
            #expect(try shop.becomesLevel())
            #expect(
                try shop.database.analystRows("SELECT sum(delivered), sum(opened) FROM category_funnel") == ["(2,2)"])
            try shop.expectProved()
            #expect(try shop.bellwether.run("rebuild").status == 0)
            try shop.expectProved()
        }
    }

    @Test("the receipt as JSON; a second time finds what came since, and an install that is unknown nothing")
    func json() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            func receipt(_ install: String) throws -> [String: Any] {
                let text = try shop.bellwether.trusted(
                    "erase", "--app", "shop", "--install", install, "--format", "json")
                return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            }
            let first = try receipt(install)
            #expect(first["app"] as? String == "shop" && first["install_id"] as? String == install)
            #expect(first["events"] as? Int == 3 && first["deliveries"] as? Int == 2 && first["rejected"] as? Int == 1)
            #expect(first["drop_reports"] as? Int == 1 && (first["stopped"] as? [String]) == [])
            #expect((first["erased_at"] as? String)?.hasSuffix("Z") == true)
            for install in [install, Wire.id()] {
                let receipt = try receipt(install)
                #expect(receipt["events"] as? Int == 0 && receipt["deliveries"] as? Int == 0, "\(receipt)")
            }
            try shop.expectProved()
        }
    }

    @Test("an app that is unknown is refused; where a projection is stopped, the receipt says what still counts it")
    func obstacles() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            let unknown = try shop.bellwether.run("erase", "--app", "nobody", "--install", install)
            #expect(
                unknown.status == 1 && unknown.output.isEmpty && unknown.messages.contains("'nobody'"), "\(unknown)")
            try shop.database.run(
                """
                UPDATE projection.projector SET stopped_at = now(), stopped_batch = 4,
                    stopped_because = 'a test says so'
                WHERE name = 'silent_funnel'
                """)
            let ended = try shop.bellwether.run("erase", "--app", "shop", "--install", install)
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.output.contains("silent_funnel is stopped and still counts it"), "\(ended)")
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(2)"])
            #expect(try shop.bellwether.run("projection", "resume", "silent_funnel").status == 0)
            #expect(try shop.database.analystRows("SELECT woken FROM silent_funnel") == ["(1)"])
            try shop.expectProved()
        }
    }

    @Test("an id that was never seen is erased all the same, and the receipt asks whether it is right")
    func neverSeen() throws {
        try ProjectedShop.open { shop in
            let ended = try shop.bellwether.run("erase", "--app", "shop", "--install", Wire.id())
            #expect(
                ended.status == 0 && ended.output.contains("Nothing was stored about it: is the id right?"), "\(ended)")
        }
    }

    @Test("one that was killed shows in status with the command that ends it, and not any more when that has run")
    func killed() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            var blocker = try shop.database.connect()
            try blocker.execute(script: "BEGIN; SELECT FROM projection.progress FOR UPDATE")
            let command = try shop.bellwether.start(["erase", "--app", "shop", "--install", install])
            let begun = try eventually { try shop.bellwether.trusted("status").contains("unfinished: the erasure") }
            #expect(begun)
            command.signal(SIGKILL)
            try command.wait()
            try blocker.execute(script: "COMMIT")
            let line = try #require(
                try shop.bellwether.trusted("status").split(separator: "\n").first { $0.hasPrefix("unfinished") })
            let remedy = try #require(line.split(separator: "bellwether ").last).split(separator: " ").map(String.init)
            #expect(try shop.bellwether.start(remedy).wait().status == 0)
            #expect(try !shop.bellwether.trusted("status").contains("unfinished"))
            let json = try shop.bellwether.trusted("status", "--format", "json")
            #expect(json.contains(#""unfinished":[]"#))
            try shop.expectProved()
        }
    }
}
