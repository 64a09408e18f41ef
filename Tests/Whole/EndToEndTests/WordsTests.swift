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
}
