import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The log's tail")
struct LogTailTests {
    private let database: TestDatabase
    private let app: TestApp
    private let install = UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp("chat")
    }

    private struct Shown: Decodable, Equatable {
        var result: String?
        var batch: Int64?
        var event_id: String?
        var reason: String?
        var not_kept: Int?
        var extra: [String: String?]?
    }

    /// All lines after a position, with the rights of an analyst, as often as `rounds` says.
    private func lines(
        after position: Int64 = 0, _ adjust: (inout LogTail.Filter) -> Void = { _ in }, page: Int32 = 2
    ) throws -> (shown: [Shown], texts: [String]) {
        var filter = LogTail.Filter()
        adjust(&filter)
        var tail = LogTail(after: position, filter, page: page)
        var connection = try database.session(.analyst)
        var lines: [LogTail.Line] = []
        for _ in 1...2 {
            let isAll = try tail.advance(on: &connection) { line in
                lines.append(line)
                return true
            }
            #expect(isAll)
        }
        #expect(try tail.position == LogTail.head(on: &connection))
        return (
            try lines.map { try JSONDecoder().decode(Shown.self, from: Data($0.json.utf8)) }, lines.map(\.text)
        )
    }

    @Test(
        "each event comes once, in the order of the batches, whatever the size of a page, and what was rejected behind")
    func order() throws {
        defer { database.drop() }
        let appender = try database.appender()
        var events: [Event] = []
        // The same time, many times; pages end in the middle of a batch and at its end.
        for batch in 0..<5 {
            let some = (0..<batch + 1).map { _ in Event.sample(install: install) }
            let rejected = (0..<batch).map { place in
                RejectedEvent(
                    id: nil, install: install, rejection: Rejection(.invalidID, "events[\(place)].id: no"),
                    raw: "{\(batch) \(place)}")
            }
            _ = try appender.append([app.submission(some, rejected: rejected)])
            events += some
        }
        for page: Int32 in [1, 2, 3, 200] {
            let shown = try lines(page: page).shown
            let accepted = shown.filter { $0.result == "accepted" }
            #expect(accepted.count == 15 && Set(accepted.compactMap(\.event_id)) == Set(events.map { "\($0.id)" }))
            #expect(shown.count == 25 && shown.compactMap(\.batch) == shown.compactMap(\.batch).sorted())
            for batch in 1...5 as ClosedRange<Int64> {
                let results = shown.filter { $0.batch == batch }.map(\.result)
                #expect(
                    results == Array(repeating: "accepted", count: Int(batch))
                        + Array(repeating: "rejected", count: Int(batch) - 1))
            }
        }
        #expect(try lines(after: 3).shown.compactMap(\.batch).first == 4)
        #expect(try lines(after: 5).shown.isEmpty)
    }

    @Test("it shows one app, one install or one type, and with a type nothing that was rejected")
    func filters() throws {
        defer { database.drop() }
        let other = try database.makeApp("other")
        let refused = RejectedEvent(
            id: nil, install: install, rejection: Rejection(.unknownType, "events[1].type: no"), raw: "{}")
        var odd = Event.sample(install: install, interaction: .opened(launch: .cold))
        odd.extra = Array(#"{"a":null,"b":"\#("\u{202e}")"}"#.utf8)
        _ = try database.appender().append([
            app.submission([odd, .sample()], rejected: [refused]), other.submission([.sample(install: install)]),
        ])
        #expect(try lines { $0.app = "chat" }.shown.map(\.result) == ["accepted", "accepted", "rejected"])
        #expect(try lines { $0.app = "other" }.shown.count == 1)
        #expect(try lines { $0.app = "nobody" }.shown.isEmpty)
        #expect(try lines { $0.install = install }.shown.count == 3)
        let opened = try lines { $0.type = .notificationOpened }
        #expect(
            opened.shown == [
                Shown(result: "accepted", batch: 1, event_id: "\(odd.id)", extra: ["a": nil, "b": "\u{202e}"])
            ])
        #expect(
            opened.texts[0].hasPrefix("1  2026-11-20T09:30:10.000Z  chat  notification.opened  \(install)  "),
            "\(opened.texts)")
        #expect(opened.texts[0].contains("category=INFO_CATEGORY") && opened.texts[0].contains("launch=cold"))
        let rejected = try lines { $0.app = "chat" }.texts[2]
        #expect(
            rejected.contains("chat  rejected  \(install)  unknown_type: events[1].type: no  key=write"), "\(rejected)")
    }

    @Test("what is rejected again is counted, since it is kept once")
    func again() throws {
        defer { database.drop() }
        let refused = RejectedEvent(id: nil, rejection: Rejection(.notAnObject, "events[0]: no"), raw: "1")
        let appender = try database.appender()
        for _ in 1...2 { _ = try appender.append([app.submission([], rejected: [refused])]) }
        let (shown, texts) = try lines()
        #expect(shown.map(\.batch) == [1, 2] && shown.map(\.not_kept) == [nil, 1])
        #expect(texts[1].hasPrefix("2  1 more rejected"))
    }

    @Test("an analyst's questions use the indexes, on a log of many months and batches")
    func plan() throws {
        defer { database.drop() }
        for month in 1...12 { try database.make(TestDatabase.month(2011, month)) }
        let appender = try database.appender()
        for month in 1...12 {
            let events = (0..<500).map { _ in Event.sample(at: TestDatabase.noon(2011, month, 3)) }
            _ = try appender.append([app.submission(events)])
        }
        var connection = try database.session(.analyst)
        try connection.execute(
            script: "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
        let batch: Int64 = 7
        let plan = try connection.query(
            """
            EXPLAIN SELECT event_id FROM analytics.events WHERE batch = \(batch)
                AND device_at BETWEEN \(TestDatabase.noon(2011, 7, 3)) AND \(TestDatabase.noon(2011, 7, 3))
            """
        ).map { try $0.get(0, as: String.self) }.joined(separator: "\n")
        #expect(plan.contains("event_2011_07") && !plan.contains("event_2011_06"), "\(plan)")
        #expect(plan.contains("Index") && !plan.contains("Seq Scan on event_2011"), "\(plan)")
        #expect(try lines(after: 6, page: 200).shown.count == 3000)
    }
}
