import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Rebuilding from the command line")
struct RebuildTests {
    private func fill(_ shop: ProjectedShop) throws {
        for number in 0..<5 {
            try shop.post(
                Wire.id(),
                Wire.event(
                    type: "notification.received", more: #""via":"service_extension","media":{"outcome":"attached"}"#),
                Wire.event(type: "action.tapped", at: "2026-11-20T09:31:1\(number)Z", more: #""action_id":"REPLY""#),
                Wire.event(
                    type: "story.started", notification: #"{"id":"s","campaign":"spring"}"#, more: #""page_count":2"#),
                Wire.event(
                    type: "notification.received", notification: #"{"id":"q","campaign":"sync"}"#,
                    more: #""via":"background""#))
        }
        #expect(try shop.becomesLevel())
    }

    @Test("rebuild makes all funnels anew, the same, beside a running service, and leaves no old table")
    func all() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            let before = try shop.funnels()
            #expect(before.count >= 10, "\(before)")
            for _ in 0..<2 {
                let ended = try shop.bellwether.run("rebuild")
                #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
                #expect(ended.messages == "Rebuilt from 20 events of 15 deliveries, proved, and live.\n")
                #expect(try shop.funnels() == before)
                #expect(try shop.tables() == ProjectionTables.ofOneGeneration)
            }
            // The service goes on with the new ones.
            try shop.post(Wire.id(), Wire.event())
            #expect(try shop.becomesLevel())
            #expect(try shop.database.analystRows("SELECT delivered FROM category_funnel WHERE opened > 0") == ["(6)"])
            try shop.expectProved()
        }
    }

    @Test(
        "a cell that somebody changed is found by verify with its delivery, and mended by a rebuild of its funnel alone"
    )
    func named() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            let before = try shop.funnels()
            // How many of the five installs share the shard is chance.
            let names: String = try shop.database.value(
                """
                SELECT string_agg(DISTINCT install_id::text, ' ') FROM projection.delivery
                WHERE shard = (SELECT min(shard) FROM projection.category_actions)
                """)
            let installs = names.split(separator: " ")
            let taps = installs.count
            try shop.database.run(
                """
                UPDATE projection.category_actions SET taps = taps + 7
                WHERE shard = (SELECT min(shard) FROM projection.category_actions);
                UPDATE projection.version_funnel SET delivered = 99
                WHERE shard = (SELECT min(shard) FROM projection.version_funnel)
                """)
            let found = try shop.bellwether.run("verify")
            #expect(found.status == 1, "\(found)")
            #expect(
                found.output.contains(
                    "category_actions: app shop, day 2026-11-20, category INFO_CATEGORY, action_id REPLY"),
                "\(found.output)")
            #expect(found.output.contains("  taps: stored \(taps + 7), recounted \(taps)\n"), "\(found.output)")
            let behind = installs.filter {
                found.output.contains("  behind it: delivery req-1 on install \($0)\n")
            }
            #expect(!behind.isEmpty, "\(found.output)")
            #expect(found.output.contains("version_funnel: app shop, day 2026-11-20, platform ios, app_version ''"))

            let ended = try shop.bellwether.run("rebuild", "category_actions")
            #expect(ended.status == 0, "\(ended)")
            let left = try shop.bellwether.run("verify")
            #expect(left.status == 1 && !left.output.contains("category_actions"), "\(left)")
            #expect(left.output.contains("version_funnel"), "\(left)")
            #expect(try shop.bellwether.run("rebuild", "version_funnel", "story_funnel").status == 0)
            #expect(try shop.funnels() == before)
            #expect(try shop.tables() == ProjectionTables.ofOneGeneration)
            try shop.expectProved()
        }
    }

    @Test("after an update everybody says what waits, and project --once makes it anew")
    func afterUpdate() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try shop.post(Wire.id(), Wire.event())
            _ = try shop.bellwether.trusted("project", "--once")
            try shop.database.run(
                "UPDATE projection.projector SET version = 0 WHERE name IN ('media_funnel', 'thread_funnel')")
            let migrated = try shop.bellwether.run("migrate")
            #expect(migrated.messages.contains("The rules of thread_funnel, media_funnel have changed"), "\(migrated)")
            let status = try shop.bellwether.trusted("status")
            #expect(
                status.contains("(thread_funnel, media_funnel). If nobody is working on it, run: bellwether rebuild"),
                "\(status)")
            let verified = try shop.bellwether.run("verify")
            #expect(verified.status == 1 && verified.output.contains("Not compared: media_funnel"), "\(verified)")
            let ended = try shop.bellwether.run("project", "--once")
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.messages.contains("have changed: thread_funnel, media_funnel"), "\(ended)")
            #expect(try shop.bellwether.run("verify").status == 0)
            #expect(try !shop.bellwether.trusted("status").contains("unfinished"))
        }
    }

    @Test("a name that is none ends with 1 and the names that there are, and nothing is made")
    func unknown() throws {
        let bellwether = try SharedService.get().bellwether
        for words in [
            ["rebuild", "funnel"], ["rebuild", "category_funnel", "funnel"], ["projection", "resume", "funnel"],
        ] {
            let ended = try bellwether.start(words).wait()
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(
                ended.messages.contains("no projection 'funnel'. The projections are: deliveries, category_funnel,"),
                "\(ended)")
        }
        #expect(
            try SharedService.get().database.value(ProjectionTables.count, as: Int64.self)
                == ProjectionTables.ofOneGeneration
        )
    }

    @Test("a bar shows how far it is on a terminal, and nowhere else")
    func progress() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            let quiet = try shop.bellwether.run("rebuild")
            #expect(quiet.status == 0 && !quiet.messages.contains("\r") && !quiet.messages.contains("\u{1b}"))
            let watched = try shop.bellwether.onTerminal("rebuild")
            #expect(watched.status == 0 && watched.output.contains("\r\u{1b}[K["), "\(watched)")
            #expect(watched.output.contains("###") && watched.output.contains(" %"), "\(watched)")
            // What stays on the screen is the last word alone.
            let screen = watched.output.components(separatedBy: "\u{1b}[K").last
            #expect(screen?.hasPrefix("Rebuilt from 20 events") == true, "\(watched)")
            let verified = try shop.bellwether.onTerminal("verify")
            #expect(
                verified.status == 0
                    && verified.output.contains("shard \(TestDatabase.shards) of \(TestDatabase.shards)"), "\(verified)"
            )
            #expect(
                verified.output.components(separatedBy: "\u{1b}[K").last?.hasPrefix("Recounted 20 events") == true,
                "\(verified)")
        }
    }
}
