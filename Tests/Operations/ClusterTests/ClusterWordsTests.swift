import CatalogueSupport
import Clusters
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

import struct Foundation.Data
import class Foundation.JSONSerialization

@Suite("Words in all cells")
struct ClusterWordsTests {
    private let time = Event.sampleTime

    /// Two spellings in the first cell, one of them in the second, and something else in the third.
    private func spelled() throws -> FilledCells {
        let filled = try FilledCells(at: [])
        for (place, installs, category) in [
            (0, filled.installs[0].prefix(1), "NEWS"), (0, filled.installs[0].suffix(1), "news"),
            (1, filled.installs[1][...], "NEWS"), (2, filled.installs[2][...], "SALE"),
        ] {
            try filled.add(Array(installs), to: place, at: time, category: category)
        }
        try filled.project()
        return filled
    }

    private let categories = "SELECT category, sum(delivered) FROM category_funnel GROUP BY 1 ORDER BY 1"

    @Test("a merge holds in every cell, in those too that learn the word later, and the funnels follow")
    func merged() throws {
        let filled = try spelled()
        defer { filled.drop() }
        let bellwether = try Bellwether(filled.cells.databases[2])
        let words = ["words", "merge", "--app", "chat", "--member", "category"]
        let unknown = try bellwether.start(words + ["nws", "--into", "NEWS"]).wait()
        #expect(unknown.status == 1 && unknown.messages.contains("has not learned 'nws'"), "\(unknown)")
        let killed = try bellwether.dying(at: "merged in a cell").start(words + ["news", "--into", "NEWS"]).wait()
        #expect(killed.status == 128 + 9)
        let ended = try bellwether.start(words + ["news", "--into", "NEWS"]).wait()
        #expect(ended.status == 0 && ended.messages.contains("cell-1: Rebuilt"), "\(ended)")
        // The hub knows it, too: its sends name words.
        let merged = "SELECT sent || '>' || value FROM log.merged_word"
        #expect(try filled.hub.column(Statement(merged), of: String.self) == ["news>NEWS"])
        for place in 0..<3 {
            try filled.add(
                [try #require(.init(filled.cells.install(of: place)))], to: place, at: time + 60_000_000,
                category: "news")
        }
        try filled.project()
        #expect(
            try filled.seen("SELECT DISTINCT category FROM events ORDER BY 1") == ["(NEWS)", "(SALE)"])
        #expect(try filled.seen(categories) == ["(NEWS,7)", "(SALE,2)"])
        #expect(try filled.bellwether.run("verify").status == 0)
        // Undone everywhere, too.
        #expect(try bellwether.start(words + ["news", "--into", "news", "--no-rebuild"]).wait().status == 0)
        #expect(try filled.hub.column(Statement(merged), of: String.self) == [])
        #expect(
            try filled.seen("SELECT DISTINCT category FROM events ORDER BY 1") == ["(NEWS)", "(SALE)", "(news)"])
        try filled.cells.close(1)
        let away = try bellwether.start(words + ["SALE", "--into", "NEWS", "--no-rebuild"]).wait()
        #expect(away.status == 69 && away.messages.contains("'cell-2'"), "\(away)")
        try filled.cells.open(1)
        #expect(try filled.seen("SELECT count(*) FROM events WHERE category = 'SALE'") == ["(4)"])
    }

    @Test("a hub lists the words of all cells once, and a choice means where a word came first")
    func listed() throws {
        let filled = try spelled()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        func objects(_ words: String...) throws -> [[String: Any]] {
            let ended = try bellwether.start(["words", "list", "--app", "chat", "--format", "json"] + words).wait()
            #expect(ended.status == 0, "\(ended)")
            return try ended.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
        }
        let counts = try objects()
        #expect(counts.first { $0["member"] as? String == "category" }?["values"] as? Int == 3, "\(counts)")
        #expect(counts.first { $0["member"] as? String == "platform" }?["values"] as? Int == 1)
        let values = try objects("--member", "category").compactMap { $0["value"] as? String }
        #expect(values == ["SALE", "news", "NEWS"])
        #expect(try objects("--member", "category", "--limit", "1").count == 1)
        // The second cell learned NEWS later than the first one: it came from there.
        let first = filled.installs[0][0]
        #expect(try objects("--install", "\(first)").contains { $0["value"] as? String == "NEWS" })
        #expect(try objects("--install", "\(filled.installs[1][0])").isEmpty)
        let own = try Bellwether(filled.cells.databases[1]).trusted(
            "words", "list", "--app", "chat", "--member", "category")
        #expect(own.contains("NEWS") && !own.contains("SALE"))
    }

    @Test("pruned words are forgotten in all cells, and an interrupted run goes on")
    func pruned() throws {
        let filled = try spelled()
        defer { filled.drop() }
        let bellwether = try Bellwether(filled.cells.databases[1])
        let words = [
            "words", "prune", "--app", "chat", "--member", "category", "--install", "\(filled.installs[0][0])",
        ]
        #expect(try bellwether.start(words + ["--dry-run"]).wait().output == "1\n")
        for time in 1...4 {
            let killed = try bellwether.dying(at: "pruned in a cell", time: time).start(words).wait()
            #expect(killed.status == 128 + 9)
        }
        let ended = try bellwether.start(words).wait()
        #expect(ended.status == 0, "\(ended)")
        #expect(
            try filled.seen("SELECT DISTINCT category FROM events ORDER BY 1") == [#"("(other)")"#, "(SALE)", "(news)"])
        _ = try filled.bellwether.trusted("rebuild")
        #expect(try filled.seen(categories) == [#"("(other)",3)"#, "(SALE,2)", "(news,1)"])
    }

    @Test("a cell that is added later merges as the others do, and a check mends one that does not")
    func later() throws {
        let filled = try spelled()
        let fourth = try TestDatabase.make(.empty)
        defer {
            filled.drop()
            fourth.drop()
        }
        let bellwether = try Bellwether(filled.cells.databases[0])
        _ = try bellwether.trusted(
            "words", "merge", "--app", "chat", "--member", "category", "news", "--into", "NEWS", "--no-rebuild")
        #expect(try filled.cells.cluster().add(name: "cell-4", url: try ThreeCells.place(of: fourth)).untold.isEmpty)
        #expect(try fourth.value("SELECT value FROM log.word WHERE sent = 'news'") == "NEWS")
        #expect(try bellwether.trusted("cluster", "check") == "All cells agree.\n")
        try filled.cells.databases[2].run("UPDATE log.word SET value = sent, counts_as = NULL WHERE sent = 'news'")
        let check = try bellwether.trusted("cluster", "check")
        #expect(check.contains("mended  cell-3: 1 word was merged otherwise than in the first cell"), "\(check)")
        #expect(try filled.cells.databases[2].value("SELECT value FROM log.word WHERE sent = 'news'") == "NEWS")
    }
}
