import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import Glibc
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Reading the logs of all cells by position")
struct HubReadingTests {
    private let directory = TemporaryDirectory()
    private let later = Event.sampleTime + 60_000_000

    private func events(_ ended: ChildProcess.Ended) -> [String] {
        ended.output.split(separator: "\n").compactMap {
            $0.firstMatch(of: /"event_id": ?"([^"]+)"/).map { String($0.1) }
        }
    }

    @Test("an export has each event of each cell once, in parts, and says where to go on in each")
    func exported() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        let next = directory("next")
        func part(from position: String) throws -> ([String], next: String) {
            let ended = try bellwether.run("export", "--from", position, "--format", "ndjson", "--next", next)
            #expect(ended.status == 0, "\(ended)")
            let said = try String(contentsOfFile: next, encoding: .utf8).trimmingCharacters(in: .newlines)
            #expect(ended.messages.contains("go on with --from \(said)"))
            return (events(ended), said)
        }
        let first = try part(from: "0")
        #expect(first.0.count == 12 && first.next == "cell-1:1,cell-2:1,cell-3:1")
        try filled.add(filled.installs[1], to: 1, at: later)
        let second = try part(from: first.next)
        #expect(second.0.count == 4 && second.next == "cell-1:1,cell-2:2,cell-3:1")
        #expect(try part(from: second.next) == ([], second.next))
        // A cell that is not named begins at its beginning.
        #expect(Set(try part(from: "cell-2:2").0).count == 8)
        let stored: [String] = try filled.hub.column("SELECT event_id::text FROM analytics.events")
        #expect(Set(first.0 + second.0) == Set(stored) && stored.count == 16)
        // The format is that of one database.
        let csv = try bellwether.trusted("export")
        let own = try filled.cells.databases.map { try Bellwether($0).trusted("export").split(separator: "\n") }
        #expect(csv.split(separator: "\n") == own[0].prefix(1) + own.flatMap { $0.dropFirst() })
    }

    @Test("a position of something else is refused; a cell that is away is named before anything is printed")
    func mistakes() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        let cell = try Bellwether(filled.cells.databases[0])
        for (who, position, code, hint) in [
            (bellwether, "7", 64, "in each cell here, such as cell-1:12,cell-2:12,cell-3:12"),
            (bellwether, "cell-9:7", 64, "the cells are cell-1, cell-2, cell-3"),
            (bellwether, "x", 64, "takes a position"),
            (bellwether, "cell-1:1,cell-1:1", 64, "takes a position"), (cell, "cell-1:1", 64, "only a hub"),
            (bellwether, "cell-2:9", 1, "cell 'cell-2': the log ends at position 1, before 9"),
        ] as [(Bellwether, String, Int32, String)] {
            for words in [["export"], ["events", "tail", "--limit", "1"]] where code == 64 || words == ["export"] {
                let ended = try who.start(words + ["--from", position]).wait()
                #expect(ended.status == code && ended.messages.contains(hint), "\(words) \(ended)")
            }
        }
        let analyst = try Bellwether(database: filled.hub.url(as: TestPostgres.analyst)).run("export")
        #expect(analyst.status == 1 && analyst.messages.contains("such as the owner's"), "\(analyst)")
        try filled.cells.close(2)
        let away = try bellwether.run("export")
        #expect(away.status == 69 && away.output.isEmpty && away.messages.contains("'cell-3'"), "\(away)")
        try filled.cells.open(2)
    }

    @Test("events of all cells are followed as they commit, each with its cell, also by an analyst")
    func followed() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        for database in [try filled.hub.url(), try filled.hub.url(as: TestPostgres.analyst)] {
            let bellwether = Bellwether(database: database)
            let all = try bellwether.trusted("events", "tail", "--from", "0", "--limit", "12")
            for place in 1...3 {
                #expect(
                    all.split(separator: "\n").count { $0.hasPrefix("cell-\(place)  1  2026-11-20T09:30:1") } == 4,
                    "\(all)")
            }
        }
        let following = try filled.bellwether.start(
            ["events", "tail", "--from", "cell-1:1,cell-2:1,cell-3:1", "--limit", "6", "--format", "json"])
        let refused = RejectedEvent(id: nil, rejection: Rejection(.unknownType, "type"), raw: "{}")
        _ = try filled.cells.databases[0].appender().append([
            filled.cells.app.submission([], rejected: [refused, refused])
        ])
        try filled.add(filled.installs[2], to: 2, at: later)
        let ended = try following.wait()
        #expect(ended.status == 0 && events(ended).count == 4, "\(ended)")
        let lines = ended.output.split(separator: "\n")
        #expect(lines.count { $0.contains(#""cell": "cell-3""#) && $0.contains(#""batch": 2"#) } == 4, "\(lines)")
        #expect(lines.contains { $0.contains(#""cell": "cell-1""#) && $0.contains("unknown_type") })
    }

    @Test("Live shows the newest events of all cells, and hears of new ones once, wherever they come")
    func live() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let process = try filled.bellwether.start(["look", "--listen", "127.0.0.1:0", "--host", "bellwether"])
        #expect(eventually { process.messages.contains("\"looking\"") || !process.isRunning })
        let said = try #require(process.messages.firstMatch(of: /"looking","address":"[0-9.]+:([0-9]+)"/))
        let client = HTTPClient(port: try #require(UInt16(said.1)))
        var page = ""
        // A page that takes over half a second answers 202 first.
        let isShown = try eventually {
            let answer = try client.get("/app/chat/live")
            page = answer.body
            return answer.status == 200
        }
        #expect(isShown)
        for place in 1...3 { #expect(page.components(separatedBy: "<li>cell-\(place)  1  ").count == 5, "\(page)") }
        let feed = String(try #require(page.firstMatch(of: /data-feed="([^"]*)"/)).1)
        try filled.add(filled.installs[2], to: 2, at: later)
        let heard = try client.get(feed).body
        #expect(
            heard.components(separatedBy: "data: cell-3  2  ").count == 5 && !heard.contains("cell-1  "), "\(heard)")
        #expect(heard.contains("id: cell-1:1,cell-2:1,cell-3:2\n"), "\(heard)")
        try filled.add(filled.installs[0], to: 0, at: later)
        let next = try client.get("/app/chat/live/events", headers: ["Last-Event-ID": "cell-1:1,cell-2:1,cell-3:2"])
            .body
        #expect(next.components(separatedBy: "data: cell-1  2  ").count == 5 && !next.contains("cell-3  "), "\(next)")
        process.signal(SIGTERM)
        #expect(try process.wait(within: 60).status == 0)
    }

    @Test("a position is written and read in one way")
    func positions() {
        for text in ["0", "12", "cell-1:12", "cell-1:12,cell-2:40"] { #expect(LogPosition(text)?.description == text) }
        for text in ["", "x", "-1", "1,2", "a:1,2", ":1", "a:1,a:2", "a:1,", "a:b", "a:-1", "a:1:2"] {
            #expect(LogPosition(text) == nil, "\(text)")
        }
        #expect(LogPosition("b:2")?.among(["a", "b"])?.description == "a:0,b:2")
        #expect(LogPosition("0")?.among(["a"])?.description == "a:0" && LogPosition("5")?.among(["a"]) == nil)
        #expect(LogPosition("5")?.among([nil]) == LogPosition(5) && LogPosition("a:1")?.among([nil]) == nil)
    }
}
