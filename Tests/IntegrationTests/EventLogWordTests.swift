import Postgres
import Projections
import Telemetry
import TestSupport
import Testing

@testable import EventLog

@Suite("The dictionary of words")
struct EventLogWordTests {
    private func categories(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT category FROM analytics.events ORDER BY event_id")
    }

    @Test("a full dictionary refuses only events with new words, naming the member, and only for that app and member")
    func bound() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender(mostWords: 3)
        let full = Rejection(
            .tooManyValues, "notification.category: the app has too many different values of it for one more")
        #expect(
            try appender.append([app.submission(["A", "B"].map { Event.sample(category: $0) })]) == [
                [.accepted, .accepted]
            ])
        // Of two new words at once the first in order gets the last place.
        #expect(
            try appender.append([app.submission(["D", "A", "C", "D", nil].map { Event.sample(category: $0) })])
                == [[.rejected(full), .accepted, .accepted, .rejected(full), .accepted]])
        #expect(
            try appender.append([
                app.submission([
                    Event.sample(category: "A"), Event.sample(category: "E"),
                    Event.sample(category: "B", interaction: .actionTapped(ActionTap(actionID: "NEW"))),
                ]), other.submission([Event.sample(category: "D")]),
            ]) == [[.accepted, .rejected(full), .accepted], [.accepted]])
        #expect(
            try database.appender(mostWords: 3).append([
                app.submission([Event.sample(category: "C"), Event.sample(category: "D")])
            ]) == [[.accepted, .rejected(full)]])
        #expect(
            try database.value(
                "SELECT words FROM log.word_count WHERE app = \(app.app.id) AND kind = 1", as: Int32.self) == 3)
        #expect(
            try database.value(
                "SELECT count(*) FROM analytics.rejected_events WHERE app = 'chat' AND reason = 'too_many_values'",
                as: Int64.self)
                == 3)  // the raws of the samples are told apart by their place alone
        // With more room the same events are taken.
        #expect(
            try database.appender(mostWords: 4).append([app.submission([Event.sample(category: "D")])]) == [[.accepted]]
        )
    }

    @Test("writers that learn the same words at once agree on them", arguments: 1...3)
    func together(round: Int) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try TestSupport.together(4) { writer in
            let appender = try database.appender(node: "node-\(writer)", mostWords: 40)
            for batch in 0..<4 {
                let words = (0..<10).map { "word \(batch * 10 + $0)" }
                let events = (writer % 2 == 0 ? words : words.reversed()).map { word in
                    Event.sample(category: word, interaction: .actionTapped(ActionTap(actionID: word)))
                }
                #expect(try appender.append([app.submission(events)]) == [[Verdict](repeating: .accepted, count: 10)])
            }
        }
        let words = Set((0..<40).map { "word \($0)" })
        #expect(try Set(database.column("SELECT value FROM log.word WHERE kind = 1", of: String.self)) == words)
        #expect(try database.value("SELECT count(*) FROM log.word WHERE kind IN (1, 15)", as: Int64.self) == 80)
        #expect(
            try database.value(
                "SELECT count(*) FROM analytics.events WHERE category LIKE 'word %' AND action_id = category",
                as: Int64.self) == 160)
    }

    @Test("two spellings of one accented letter are two words, in whatever order they come")
    func spellings() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let texts = [
            "caf\u{e9}", "cafe\u{301}", "caf\u{e9}", "\u{212b}", "\u{c5}", "a\u{301}\u{323}", "a\u{323}\u{301}",
        ]
        for texts in [texts, texts.reversed()] {
            let events = texts.enumerated().map {
                Event.sample(
                    id: UUID(high: 0, low: UInt64($0)), at: Event.sampleTime + .random(in: 0...1_000_000), category: $1)
            }
            _ = try appender.append([app.submission(events)])
        }
        let stored = try database.column(
            "SELECT encode(convert_to(category, 'UTF8'), 'hex') FROM analytics.events ORDER BY batch, event_id",
            of: String.self)
        func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined() }
        #expect(stored == texts.map(hex) + texts.reversed().map(hex))
    }

    @Test(
        "devices and contexts for which there is no room stand in the rows: nothing is refused, and all is shown and counted"
    )
    func loose() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        // Two words of a kind are allowed, so twenty of each combination.
        let appender = try database.appender(mostWords: 2)
        let words: [String?] = [nil, "a", "b"]
        var events: [Event] = []
        for first in words {
            for second in words {
                for third in words {
                    for authorization in [nil, Authorization.denied] {
                        events.append(
                            Event(
                                id: UUID(high: 0, low: UInt64(events.count)), deviceAt: Event.sampleTime,
                                occurredAt: Event.sampleTime, receivedAt: Event.sampleTime, timeSource: .device,
                                source: Source(
                                    installID: .random(), platform: first, appVersion: second, locale: third,
                                    authorization: authorization, showPreviews: authorization.map { _ in .never }),
                                notification: Notification(id: "n", category: first, thread: second, topic: third),
                                interaction: .opened(launch: .cold)))
                    }
                }
            }
        }
        for start in stride(from: 0, to: events.count, by: 9) {
            let some = Array(events[start..<start + 9])
            #expect(try appender.append([app.submission(some)]) == [[Verdict](repeating: .accepted, count: 9)])
            #expect(try appender.append([app.submission(some)]) == [[Verdict](repeating: .duplicate, count: 9)])
        }
        #expect(try database.value("SELECT count(*) FROM log.device", as: Int64.self) == 20)
        #expect(try database.value("SELECT count(*) FROM log.event WHERE rare ? 'device'", as: Int64.self) == 33)
        #expect(try database.value("SELECT count(*) FROM log.event WHERE rare ? 'context'", as: Int64.self) == 12)
        let shown: [String] = try database.column(
            """
            SELECT concat_ws('|', coalesce(platform, '-'), coalesce(app_version, '-'), coalesce(locale, '-'),
                coalesce("authorization", '-'), coalesce(show_previews, '-'), coalesce(category, '-'), coalesce(thread, '-'),
                coalesce(topic, '-'))
            FROM analytics.events ORDER BY event_id
            """)
        #expect(
            shown
                == events.map { event in
                    let (source, notification) = (event.source, event.notification)
                    return [
                        source.platform, source.appVersion, source.locale, source.authorization?.wire,
                        source.showPreviews?.wire, notification.category, notification.thread, notification.topic,
                    ].map { $0 ?? "-" }.joined(separator: "|")
                })
        _ = try database.projections().catchUp()
        try database.expectProved()
        let funnel: [Int64] = try database.column("SELECT opened FROM analytics.category_funnel ORDER BY category")
        #expect(funnel == [18, 18, 18])
        let locales: [Int64] = try database.column(
            "SELECT count(*) FROM analytics.deliveries GROUP BY locale ORDER BY locale")
        #expect(locales == [18, 18, 18])
    }

    @Test("a writer that has met more words than it can remember refuses nothing for it")
    func forgetful() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        appender.words = WordCache(capacity: 4)
        appender.combinations = CombinationCache(capacity: 4)
        let names = ["A", "B", "A", "C", "D", "E", "A", "F", "B"]
        for (place, name) in names.enumerated() {
            let event = Event.sample(
                id: UUID(high: 0, low: UInt64(place)), category: name,
                interaction: .actionTapped(ActionTap(actionID: "to \(name)")))
            #expect(try appender.append([app.submission([event])]) == [[.accepted]], "\(name)")
        }
        let batch = (0..<20).map { Event.sample(id: UUID(high: 1, low: UInt64($0)), category: "\($0)") }
        #expect(try appender.append([app.submission(batch)]) == [[Verdict](repeating: .accepted, count: 20)])
        #expect(try categories(database) == names + (0..<20).map(String.init))
    }

    @Test("words that were learned for a batch that did not commit are good for the next")
    func afterFailure() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        var owner = try database.connect()
        try owner.execute(script: "ALTER TABLE log.batch RENAME TO batch_away")
        let event = Event.sample(category: "NEW")
        let error = #expect(throws: PostgresError.self) { try appender.append([app.submission([event])]) }
        #expect(error?.state == .undefinedTable)
        try owner.execute(script: "ALTER TABLE log.batch_away RENAME TO batch")
        #expect(try appender.append([app.submission([event])]) == [[.accepted]])
        #expect(try categories(database) == ["NEW"])
    }
}
