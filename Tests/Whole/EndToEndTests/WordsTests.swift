import Postgres
import TestSupport
import Testing

@Suite("Words of a dictionary")
struct WordsTests {
    @Test("a leaked key that fills the dictionary refuses nobody's events, and what it taught is pruned")
    func leakedKey() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let leaked = String(try bellwether.trusted("app", "key", "add", "chat", "--name", "leaked").dropLast())
        let service = try bellwether.serve("--max-values", "20", "--max-new-values", "30")
        defer { _ = try? service.stop() }
        let client = service.client()
        func post(_ categories: [String], key: String) throws {
            let events = categories.map {
                Wire.event(notification: #"{"id":"\#(Wire.id())","category":"\#($0)","campaign":"\#($0)"}"#)
            }
            let results = try client.post(Wire.envelope(events), key: key).results
            #expect((results.accepted, results.rejected) == (categories.count, 0))
        }
        func funnel() throws -> [String] {
            _ = try bellwether.trusted("project", "--once")
            return try database.analystRows(
                "SELECT CASE WHEN category LIKE 'x%' THEN 'x' ELSE category END, sum(delivered) FROM category_funnel GROUP BY 1 ORDER BY 1"
            )
        }
        try post(["HONEST"], key: app.secret)
        for round in 0..<3 { try post((0..<50).map { "x\(round).\($0)" }, key: leaked) }
        try post(["HONEST", "LATER"], key: app.secret)
        // Nineteen of one member, where the honest one has a place, and eleven of the other are thirty words.
        let learned = try bellwether.trusted(
            "words", "list", "--app", "chat", "--taught-by", "leaked", "--limit", "1000")
        #expect(learned.split(separator: "\n").count == 31, "\(learned)")
        let other = try #require(
            try database.analystRows(
                "SELECT extra FROM events WHERE campaign = '(other)' AND category = 'LATER' OR category = '(other)' AND extra #>> '{notification,category}' = 'LATER'"
            ).first)
        #expect(other.contains("LATER"))
        #expect(
            try database.value("SELECT sum(other)::bigint FROM analytics.data_quality", as: Int64.self) > 100)
        #expect(try funnel().contains { $0.hasPrefix(#"("(other)","#) })

        _ = try bellwether.trusted("app", "key", "revoke", "chat", "leaked")
        #expect(
            try bellwether.trusted("words", "prune", "--app", "chat", "--taught-by", "leaked", "--dry-run") == "30\n")
        let pruned = try bellwether.run("words", "prune", "--app", "chat", "--taught-by", "leaked")
        #expect(pruned.status == 0 && pruned.output == "30\n", "\(pruned)")
        #expect(try funnel().allSatisfy { !$0.hasPrefix("(x") })
        try post(["LATER"], key: app.secret)
        #expect(try funnel().contains { $0.hasPrefix("(LATER,") })
        #expect(try bellwether.run("verify").status == 0)
    }

    @Test("spellings of one category are merged, and what cannot be is said in words")
    func merge() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        let events = ["NEWS", "news", "News"].map {
            Wire.event(notification: #"{"id":"\#(Wire.id())","category":"\#($0)"}"#)
        }
        #expect(try service.client().post(Wire.envelope(events), key: app.secret).results.accepted == 3)
        let words = ["words", "merge", "--app", "chat", "--member", "category", "news", "News", "--into"]
        #expect(try bellwether.start(words + ["NEWS"]).wait().status == 0)
        #expect(
            try database.analystRows("SELECT category, delivered FROM category_funnel") == ["(NEWS,3)"])
        let listed = try bellwether.trusted(
            "words", "list", "--app", "chat", "--member", "category", "--format", "json")
        #expect(listed.split(separator: "\n").filter { $0.contains(#""shown_as":"NEWS""#) }.count == 3, "\(listed)")
        let unknown = try bellwether.start(words + ["none"]).wait()
        #expect(unknown.status == 1 && unknown.messages.contains("has not learned 'none' as category"))
        #expect(
            try bellwether.run("words", "merge", "--app", "chat", "--member", "colour", "a", "--into", "b").status == 64
        )
        #expect(try bellwether.run("words", "prune", "--app", "chat").status == 64)
        #expect(try bellwether.run("words", "prune", "--app", "chat", "a").status == 64)
    }

    @Test(
        "what names a merged word, as sends, experiments and registered categories do, follows it, and comes back with it"
    )
    func named() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        // Registered, sent and tried under the names that the app will say no more.
        let news =
            #"{"id":"news","content_extension":true,"custom_dismiss":true,"actions":[{"id":"bye","titles":{"en":"Bye"},"answer":"close"}]}"#
        func register(_ categories: String) throws {
            _ = try bellwether.trusted(
                "categories", "import", "--app", "chat", "-", input: "{\"categories\":[\(categories)]}")
        }
        try register(news)
        let pages =
            #"{"aps":{"category":"news"},"pw_stories":{"pages":[{"image":"https://a.example/1","title":"One","duration":4}]}}"#
        _ = try bellwether.trusted(
            "sends", "import", "--app", "chat", "-",
            input:
                #"{"id":"s","campaign":"spring","sent_at":"2026-11-20T09:00:00Z","recipients":100,"payload":\#(pages)}"#
        )
        _ = try bellwether.trusted(
            "experiments", "create", "--app", "chat", "e", "--control", "99.999", "--starts", "2026-11-19T00:00:00Z",
            "--campaign", "spring", "--goal", "buy", "--salt", "q")
        let install = Wire.id()
        func event(_ type: String, _ day: String, _ seconds: Int, _ names: String, _ more: String = "") -> String {
            Wire.event(
                type: type, at: "2026-11-\(day)T09:30:\(10 + seconds)Z",
                notification:
                    #"{"id":"\#(names)"\#(names == "old" ? #","category":"news","campaign":"spring""# : "")}"#,
                more: more)
        }
        let old = [
            event("notification.opened", "10", 0, "earlier"),
            event("notification.received", "20", 0, "old", #""via":"service_extension""#),
            event("story.started", "20", 1, "old", #""page_count":1"#),
            event("story.page_shown", "20", 2, "old", #""page_index":0"#),
            event("action.tapped", "20", 3, "old", #""action_id":"bye""#),
            #"{"id":"\#(Wire.id())","type":"goal.reached","at":"2026-11-20T10:00:00Z","goal":"buy"}"#,
        ]
        #expect(try service.client().post(Wire.envelope(install: install, old), key: app.secret).results.accepted == 6)
        let names = [
            Wire.event(
                type: "action.tapped",
                notification: #"{"id":"new","category":"NEWS","campaign":"Spring"}"#, more: #""action_id":"BYE""#),
            #"{"id":"\#(Wire.id())","type":"goal.reached","at":"2026-11-20T10:00:00Z","goal":"Buy"}"#,
        ]
        #expect(try service.client().post(Wire.envelope(names), key: app.secret).results.accepted == 2)

        func numbers(_ category: String, _ button: String) throws -> [String] {
            _ = try bellwether.trusted("project", "--once")
            return try database.analystRows(
                """
                SELECT 'funnel', campaign, sent, delivered > 0 FROM campaign_funnel WHERE sent > 0
                UNION ALL SELECT 'delay', campaign, delayed, NULL FROM send_delays
                UNION ALL SELECT 'page', campaign, declared_ms, page_title = 'One' FROM story_page_funnel
                UNION ALL SELECT 'engaged', category, sum(engaged), count(dismiss_rate) > 0 FROM category_funnel
                    WHERE category = '\(category)' GROUP BY category
                UNION ALL SELECT verdict, category || '.' || action_id, NULL, answer = 'close' FROM category_buttons
                    WHERE category = '\(category)' AND action_id = '\(button)'
                UNION ALL SELECT 'answer', category, sum(taps), NULL FROM category_answers WHERE answer = 'close' GROUP BY category
                UNION ALL SELECT 'arm', goal, reached, exposed = 1 FROM experiments WHERE arm = 'control'
                """)
        }
        let before = [
            "(funnel,spring,100,t)", "(delay,spring,1,)", "(page,spring,4000,t)", "(engaged,news,0,t)",
            "(tapped,news.bye,,t)", "(answer,news,1,)", "(arm,buy,1,t)",
        ]
        #expect(try numbers("news", "bye") == before)
        let words = [
            ("category", "news", "NEWS"), ("campaign", "spring", "Spring"), ("goal", "buy", "Buy"),
            ("action_id", "bye", "BYE"),
        ]
        for (member, word, target) in words {
            _ = try bellwether.trusted("words", "merge", "--app", "chat", "--member", member, word, "--into", target)
        }
        #expect(
            try numbers("NEWS", "BYE") == [
                "(funnel,Spring,100,t)", "(delay,Spring,1,)", "(page,Spring,4000,t)", "(engaged,NEWS,0,t)",
                "(tapped,NEWS.BYE,,t)", "(answer,NEWS,2,)", "(arm,Buy,1,t)",
            ])
        // What is registered under its own name speaks for itself.
        try register(news + #",{"id":"NEWS","actions":[{"id":"BYE","titles":{"en":"Bye"},"answer":"later"}]}"#)
        #expect(try numbers("NEWS", "BYE").contains("(engaged,NEWS,2,f)"))
        for (member, word, _) in words {
            _ = try bellwether.trusted("words", "merge", "--app", "chat", "--member", member, word, "--into", word)
        }
        #expect(try numbers("news", "bye") == before)
        #expect(try bellwether.run("verify").status == 0)
    }
}
