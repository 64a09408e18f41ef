import Postgres
import TestSupport
import Testing

@Suite("A change of words that was interrupted")
struct InterruptedWordsTests {
    private static let points = ["words changed", "generation begun", "level", "proved", "exchanged"]

    private func filled() throws -> (TestDatabase, Bellwether) {
        let database = try TestDatabase.make()
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let service = try bellwether.serve("--only", "ingest")
        defer { _ = try? service.stop() }
        let events = (Self.points + ["NEWS"]).map {
            Wire.event(notification: #"{"id":"\#(Wire.id())","category":"\#($0)"}"#)
        }
        #expect(try service.client().post(Wire.envelope(events), key: app.secret).results.accepted == events.count)
        _ = try bellwether.trusted("project", "--once")
        return (database, bellwether)
    }

    /// Verification says what is unfinished, and calls nothing a difference.
    private func expectUnfinished(_ bellwether: Bellwether, _ point: String) throws {
        for days in [[], ["--since", "2026-11-01"]] {
            let verified = try bellwether.start(["verify"] + days).wait()
            #expect(
                verified.status == 1 && verified.output.contains("Words were merged or pruned"), "\(point): \(verified)"
            )
            #expect(!verified.output.contains("differ"), "\(point): \(verified)")
        }
        let status = try bellwether.run("status")
        #expect(status.output.contains("the rebuild after words were merged or pruned"), "\(point): \(status)")
    }

    @Test(
        "a merge or a prune that is killed anywhere is told by verify, and project --once finishes it",
        arguments: [["prune"], ["merge", "--into", "NEWS"]])
    func killed(_ words: [String]) throws {
        let (database, bellwether) = try filled()
        defer { database.drop() }
        for point in Self.points {
            let command = ["words", words[0], "--app", "chat", "--member", "category", point] + words.dropFirst()
            let ended = try bellwether.dying(at: point).start(command).wait()
            #expect(ended.status == 128 + 9, "\(point): \(ended)")
            try expectUnfinished(bellwether, point)
            let projected = try bellwether.run("project", "--once")
            #expect(projected.status == 0 && projected.messages.contains("Rebuilt"), "\(point): \(projected)")
            let verified = try bellwether.run("verify")
            #expect(verified.status == 0, "\(point): \(verified)")
        }
        #expect(
            try database.analystRows("SELECT count(DISTINCT category), sum(delivered) FROM category_funnel").count == 1)
    }

    @Test("a running service finishes it by itself")
    func served() throws {
        let (database, bellwether) = try filled()
        defer { database.drop() }
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        let prune = ["words", "prune", "--app", "chat", "--member", "category", "NEWS"]
        #expect(try bellwether.dying(at: "words changed").start(prune).wait().status == 128 + 9)
        #expect(try eventually { try bellwether.run("verify").status == 0 })
        #expect(try database.analystRows("SELECT FROM category_funnel WHERE category = 'NEWS'").isEmpty)
    }
}
