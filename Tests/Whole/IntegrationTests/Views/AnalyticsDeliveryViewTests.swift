import Migrations
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("The deliveries as analysts read them")
struct AnalyticsDeliveryViewTests {
    private static let install = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"

    private func insert(
        _ key: String, generation: Int = 1, day: String = "2026-11-20", _ values: [String: Int] = [:],
        into app: TestApp,
        firstAt: String = "2026-11-20 09:30:10+00", lastAt: String = "2026-11-20 09:31:10.5+00"
    ) throws {
        try app.insert(
            "delivery", generation: generation, day: day, ["furthest": -1, "items": 1].merging(values) { $1 },
            texts: [
                "notification_key": key, "install_id": Self.install, "state": "\\x00", "first_occurred_at": firstAt,
                "last_occurred_at": lastAt, "first_device_at": firstAt, "last_device_at": lastAt,
            ])
    }

    @Test("have the columns of the fold, typed")
    func columns() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let found = try database.columns(of: "deliveries")
        let flags = [
            "silent", "received", "expanded", "opened", "dismissed", "action_tapped", "story_action_tapped",
            "media_attached", "responded", "received_responded", "sole", "engaged", "unanswered", "suppressed",
        ]
        let words = [
            "category", "campaign", "variant", "thread", "origin", "platform", "app_version", "media_kind",
            "media_network", "media_outcome",
        ]
        let times = [
            "first_occurred_at", "last_occurred_at", "first_device_at", "last_device_at", "answered_at", "received_at",
            "opened_at", "first_response_at",
        ]
        let firsts = [
            "first_response", "locale", "os_version", "device_model", "authorization", "reach", "interruption_level",
            "topic", "analytics_label", "launch",
        ]
        var expected = ["app:text", "install_id:uuid", "notification_key:text", "day:date"]
        expected += words.map { $0 + ":text" } + ["items:bigint"] + flags.map { $0 + ":boolean" }
        expected += [
            "fetch_result:text", "story_started:boolean", "story_finished:boolean", "story_exit:text",
            "furthest:smallint",
            "pages:smallint",
        ]
        expected += times.map { $0 + ":timestamp with time zone" } + firsts.map { $0 + ":text" }
        #expect(found == expected)
    }

    @Test("say '' for a word that is not known, and null for what a delivery does not have")
    func nothing() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try insert("k", into: app)
        let words = String(repeating: ",\"\"", count: 10)
        let flags = String(repeating: ",f", count: 12)
        let times = ",\"2026-11-20 09:30:10+00\",\"2026-11-20 09:31:10.5+00\""
        let nulls = String(repeating: ",", count: 14)
        let expected = "(chat,\(Self.install),k,2026-11-20\(words),1\(flags),t,f,,f,f,,,\(times)\(times)\(nulls))"
        #expect(try database.analystRows("SELECT * FROM deliveries") == [expected])
    }

    @Test("give every word and number its column")
    func everything() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var values = [
            "items": 17, "origin": 1, "media_kind": 2, "media_network": 1, "media_outcome": 1, "fetch_result": 2,
            "story_exit": 4, "furthest": 2, "pages": 5, "flags": 2 | 256, "authorization": 4, "launch": 2,
        ]
        let words: [(column: String, kind: WordKind)] = [
            ("category", .category), ("campaign", .campaign), ("variant", .variant), ("thread", .thread),
            ("platform", .platform), ("app_version", .appVersion), ("os_version", .osVersion),
            ("device_model", .deviceModel), ("locale", .locale), ("interruption_level", .interruptionLevel),
            ("topic", .topic), ("analytics_label", .analyticsLabel), ("first_response", .actionID),
        ]
        for (column, kind) in words { values[column] = try app.word(kind, "a_" + column) }
        try insert("k", values, into: app)
        #expect(
            try database.analystRows(
                """
                SELECT category, campaign, variant, thread, platform, app_version, origin, media_kind, media_network,
                    media_outcome, items, fetch_result, story_exit, furthest, pages, os_version, device_model, locale,
                    interruption_level, topic, analytics_label, first_response, "authorization", launch
                FROM deliveries
                """
            ) == [
                "(a_category,a_campaign,a_variant,a_thread,a_platform,a_app_version,remote,video,wifi,attached,17,no_data,"
                    + "abandoned,2,5,a_os_version,a_device_model,a_locale,a_interruption_level,a_topic,a_analytics_label,"
                    + "a_first_response,denied,warm)"
            ])
        for (code, word) in [(-1, "opened"), (-2, "story_action")] {
            try insert("response", ["first_response": code], into: app)
            #expect(
                try database.analystRows(
                    "SELECT first_response FROM deliveries WHERE notification_key = 'response'") == ["(\(word))"])
            try database.run("DELETE FROM projection.delivery WHERE notification_key = 'response'")
        }
        // A story of which no page is known has no pages, and is a story all the same.
        try insert("fallback", ["story_exit": 3], into: app)
        #expect(
            try database.analystRows(
                "SELECT story_exit, furthest, pages FROM deliveries WHERE notification_key = 'fallback'") == [
                    "(fallback,,0)"
                ])
    }

    @Test("read each flag from its bit, and the derived ones as the contract has them")
    func flags() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bits = [
            "silent", "received", "expanded", "opened", "dismissed", "action_tapped", "story_action_tapped",
            "media_attached", "story_started", "story_finished", "suppressed", "sole",
        ]
        try insert("pattern", into: app)
        // Every set of flags there is, each on a delivery of its own.
        try database.run(
            """
            INSERT INTO projection.delivery
            SELECT made.*
            FROM projection.delivery AS pattern, generate_series(0, \((1 << bits.count) - 1)) AS set,
                jsonb_populate_record(pattern, jsonb_build_object('flags', set, 'notification_key', set)) AS made;
            DELETE FROM projection.delivery WHERE notification_key = 'pattern';
            """)
        let columns = (bits + ["responded", "received_responded", "unanswered"]).joined(separator: ", ")
        let found = try database.analystRows("SELECT \(columns) FROM deliveries ORDER BY notification_key::integer")
        let expected = (0..<(1 << bits.count)).map { flags in
            let has = Dictionary(uniqueKeysWithValues: bits.enumerated().map { ($1, flags >> $0 & 1 == 1) })
            func any(_ names: String...) -> Bool { names.contains { has[$0] == true } }
            let responded = any("opened", "action_tapped", "story_action_tapped")
            let derived = [responded, any("received") && responded, !any("silent", "dismissed") && !responded]
            return "(\((bits.map { any($0) } + derived).map { $0 ? "t" : "f" }.joined(separator: ",")))"
        }
        #expect(found == expected)
    }

    @Test("and the media funnel name codes by the words of the program's enumerations, in their order")
    func codes() throws {
        func words<Code: WireEnum>(_: Code.Type) -> [String] { Code.allCases.map(\.wire) }
        let expected = [
            "origin": words(Origin.self), "media_kind": words(MediaKind.self),
            "media_network": words(MediaNetwork.self), "media_outcome": words(MediaOutcome.self),
            "fetch_result": words(FetchResult.self), "story_exit": ["clicked", "finished", "fallback", "abandoned"],
            "authorization": words(Authorization.self), "reach": words(Reach.self), "launch": words(Launch.self),
            "kind": words(MediaKind.self),
            "network": words(MediaNetwork.self), "outcome": words(MediaOutcome.self), "reason": words(MediaReason.self),
        ]
        var found: [String: [String]] = [:]
        for view in Migrations.definitions where ["view_deliveries", "view_media_funnel"].contains(view.name) {
            for match in view.sql.matches(of: /\('\{([^}]*)\}'::text\[\]\)\[[df]\."?([a-z_]+)"?\]/) {
                found[String(match.2)] = match.1.split(separator: ",").map(String.init)
            }
        }
        #expect(found == expected)
    }

    @Test("are found by day, without opening a generation that is not live")
    func plans() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        let app = try database.makeApp()
        for generation in [1, 2] { try insert("k", generation: generation, into: app) }
        #expect(try database.analystRows("SELECT notification_key FROM deliveries") == ["(k)"])
        let plan = try database.plan(of: "SELECT * FROM analytics.deliveries WHERE app = 'chat' AND day = '2026-11-20'")
        let words = plan.joined(separator: "\n")
        #expect(plan.count { $0.contains("Index Cond: (day = ") } >= 2, "\(words)")
        #expect(plan.contains { $0.contains(" on delivery_1 ") && $0.contains("(actual rows=1") }, "\(words)")
        #expect(plan.contains { $0.contains(" on delivery_2 ") && $0.contains("(never executed)") }, "\(words)")
    }
}
