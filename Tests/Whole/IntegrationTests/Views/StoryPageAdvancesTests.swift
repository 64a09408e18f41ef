import Accounts
import Postgres
import Sends
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Story pages known by name")
struct StoryPageAdvancesTests {
    /// Tells a send of a campaign with pages of these titles and durations; without a title its image is none.
    private func tell(
        _ id: String, campaign: String, variant: String? = nil, at time: Int64,
        _ pages: [(title: String?, seconds: Double)], of app: TestApp,
        in database: TestDatabase
    ) throws {
        let declared = pages.map { page in
            "{\"image\":\"\(page.title == nil ? "none" : "https://e.com/1")\",\"title\":\"\(page.title ?? "lost")\",\"duration\":\(page.seconds)}"
        }
        let line =
            "{\"id\":\"\(id)\",\"campaign\":\"\(campaign)\",\"payload\":{\"pw_stories\":{\"pages\":[\(declared.joined(separator: ","))]}}}"
        var send = try SendsDecoder().decode(line: Array(line.utf8)).get()
        send.sentAt = Event.sampleTime + time
        send.variant = variant
        var connection = try database.session(.ingest)
        _ = try SendStore.append(
            [send], SendStore.Arrival(app: app.id, key: nil, receivedAt: Event.sampleTime), on: &connection)
    }

    private func pages(_ database: TestDatabase) throws -> [String] {
        try database.analystRows(
            """
            SELECT campaign, page_index, page_title, declared_ms, auto_advances, manual_advances, unexplained_advances
            FROM story_page_funnel ORDER BY campaign, page_index
            """)
    }

    @Test("advances are told by the declared duration, to 0.4 s, as soon as and as long as one is known")
    func advances() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        let app = try database.makeApp()
        let campaign = try app.word(.campaign, "sale")
        let told = ["last": 9, "auto_advances": 10, "manual_advances": 20, "campaign": campaign]
        try app.insert("story_funnel", ["campaign": campaign, "stories": 18])
        try app.insert("story_page_funnel", told)
        try app.insert("story_page_funnel", ["last": 9, "campaign": campaign, "page_index": 1])
        // From 2.6 s to 3.4 s, in twentieths: 52 to 68.
        for (place, gap) in [51, 52, 60, 61, 68, 69].enumerated() {
            let key = ["campaign": campaign, "gap": gap]
            try app.insertEverywhere("story_page_gaps", ["advances": 1 << place], key: key)
        }
        // Of another page and another category.
        try app.insert("story_page_gaps", ["campaign": campaign, "page_index": 1, "gap": 60, "advances": 1])
        try app.insert("story_page_gaps", ["campaign": campaign, "category": 7, "gap": 60, "advances": 5000])
        #expect(try pages(database) == ["(sale,0,,,10,20,6993)", "(sale,1,,,0,0,1)"])
        try tell("1", campaign: "sale", at: 0, [("One", 3), ("Two", 5)], of: app, in: database)
        try tell("2", campaign: "another", at: 9, [("No", 9)], of: app, in: database)
        #expect(
            try pages(database) == ["(sale,0,One,3000,\(10 + 30 * 111),\(20 + 33 * 111),0)", "(sale,1,Two,5000,0,1,0)"])
        // The newest send that has a story counts; what was never shown is no page.
        try tell("3", campaign: "sale", at: 1, [(nil, 1), ("Uno", 30)], of: app, in: database)
        try tell("4", campaign: "sale", at: -1, [("Old", 1)], of: app, in: database)
        #expect(try pages(database) == ["(sale,0,Uno,30000,10,\(20 + 63 * 111),0)", "(sale,1,,,0,0,1)"])
    }

    @Test("a story that is sent again under its name changes nothing of the days before, and each variant has its own")
    func asItWasThen() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let campaign = try app.word(.campaign, "weekly")
        let (a, b) = (try app.word(.variant, "a"), try app.word(.variant, "b"))
        for day in ["2026-11-13", "2026-11-20", "2026-11-27"] {
            for variant in [0, a, b] {
                let key = ["campaign": campaign, "variant": variant]
                try app.insert("story_funnel", day: day, key.merging(["stories": 2]) { $1 })
                try app.insert("story_page_funnel", day: day, key.merging(["last": 2]) { $1 })
                // Shown for three seconds, and the events do not say why it ended.
                try app.insert("story_page_gaps", day: day, key.merging(["gap": 60, "advances": 1]) { $1 })
            }
        }
        func pages() throws -> [String] {
            try database.analystRows(
                """
                SELECT day, variant, page_title, declared_ms, auto_advances, manual_advances FROM story_page_funnel
                    ORDER BY day, variant
                """)
        }
        func faults() throws -> [String] {
            try database.analystRows(
                "SELECT day, variant, send_id FROM story_day_pages WHERE fault = 'no_image' ORDER BY day, variant")
        }
        let (noon, day) = (Int64(2 * 3_600_000_000), Int64(86_400_000_000))
        try tell("1", campaign: "weekly", at: noon, [("First", 3)], of: app, in: database)
        try tell(
            "2", campaign: "weekly", variant: "b", at: noon, [("First of b", 5), (nil, 1)], of: app, in: database)
        // A week before the first send, the earliest one after it describes the story.
        let first = [
            #"(2026-11-13,"",First,3000,1,0)"#, "(2026-11-13,a,First,3000,1,0)",
            "(2026-11-13,b,\"First of b\",5000,0,1)",
            #"(2026-11-20,"",First,3000,1,0)"#, "(2026-11-20,a,First,3000,1,0)",
            "(2026-11-20,b,\"First of b\",5000,0,1)",
        ]
        #expect(try pages().prefix(6) == first[...])
        let before = try pages()
        #expect(try faults() == ["(2026-11-13,b,2)", "(2026-11-20,b,2)", "(2026-11-27,b,2)"])

        // Sent again, a week later at the first moment of the day, and a little before midnight of the day before.
        let midnight = 7 * day - (9 * 3_600 + 30 * 60 + 10) * 1_000_000
        try tell("3", campaign: "weekly", at: midnight, [("Second", 9), (nil, 1)], of: app, in: database)
        try tell(
            "4", campaign: "weekly", variant: "b", at: midnight - 1, [("Second of b", 3)], of: app, in: database)
        #expect(try pages().prefix(6) == first[...])
        #expect(
            try pages().suffix(3) == [
                #"(2026-11-27,"",Second,9000,0,1)"#, "(2026-11-27,a,Second,9000,0,1)",
                "(2026-11-27,b,\"Second of b\",3000,1,0)",
            ])
        #expect(try pages().count == before.count)
        #expect(
            try faults() == [
                "(2026-11-13,b,2)", "(2026-11-20,b,2)", #"(2026-11-27,"",3)"#, "(2026-11-27,a,3)",
            ])
        // A send of a variant on a later day does not take the place of the one that was there.
        try tell("5", campaign: "weekly", variant: "a", at: 9 * day, [("Third", 4)], of: app, in: database)
        #expect(try pages()[3...5] == first[3...5] && pages()[7] == "(2026-11-27,a,Second,9000,0,1)")
    }

    @Test("the pages of each campaign and variant are those of its newest send that has a story")
    func newest() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        for (id, time) in [("b", 5), ("a", 5), ("c", 4)] as [(String, Int64)] {
            try tell(id, campaign: "sale", at: time, [(id, 1), (nil, 2), ("last", 3)], of: app, in: database)
        }
        try tell("d", campaign: "", at: 1, [("none", 1)], of: app, in: database)
        #expect(
            try database.analystRows(
                "SELECT campaign, send_id, declared_index, page_index, page_title, fault FROM story_pages ORDER BY campaign, declared_index"
            )
                == [
                    #"("",d,0,0,none,)"#, "(sale,b,0,0,b,)", "(sale,b,1,,lost,no_image)", "(sale,b,2,1,last,)",
                ])
    }
}
