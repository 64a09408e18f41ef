import Accounts
import CatalogueSupport
import Envelopes
import Postgres
import Projections
import Telemetry
import TestSupport
import Testing
import Values

@testable import EventLog

@Suite("The dictionary of words")
struct EventLogWordTests {
    private func categories(_ database: TestDatabase) throws -> [String] {
        try database.column("SELECT category FROM analytics.events ORDER BY event_id")
    }

    /// What a view shows of the events, and what it keeps beside.
    private func shown(_ database: TestDatabase, _ column: String = "category") throws -> [String] {
        try database.analystRows("SELECT \(column), extra FROM events WHERE app = 'chat' ORDER BY batch, event_id")
    }

    private func events(_ categories: [String?]) -> [Event] {
        categories.enumerated().map { Event.sample(id: UUID(high: 0, low: UInt64($0)), category: $1) }
    }

    /// The rows that a plan's nodes read or compared in vain, in all of their loops.
    private func vain(in plan: String) -> Int {
        plan.matches(of: /loops=([0-9]+)|Rows Removed by (?:Join )?Filter: ([0-9]+)/)
            .reduce((loops: 1, vain: 0)) { sum, match in
                if let loops = match.output.1 { return (Int(loops) ?? 1, sum.vain) }
                return (sum.loops, max(sum.vain, sum.loops * (match.output.2.flatMap { Int($0) } ?? 0)))
            }.vain
    }

    @Test("new words cost the same however many there are, on a table without statistics and on one with them")
    func plans() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        func learn(_ round: Int, with appender: Appender) throws {
            let events = (0..<200).map { Event.sample(category: "\(round).\($0)") }
            #expect(
                try appender.append([app.submission(events)]) == [[Verdict](repeating: .accepted, count: events.count)])
        }
        // The first words are planned for an empty table.
        let (early, earlyLines) = try database.explainedAppender()
        for round in 0..<3 { try learn(round, with: early) }
        var administrator = try database.administrator()
        try administrator.execute(script: "ANALYZE log.word; ANALYZE log.context")
        let (late, lateLines) = try database.explainedAppender()
        try learn(3, with: late)
        let plans = (earlyLines.all + lateLines.all).filter { $0.contains("log.word") || $0.contains("log.context") }
        #expect(plans.contains { $0.contains("INSERT INTO log.word") })
        for plan in plans {
            // What was read or compared in vain: at most once each word of the last hour, and never each with each.
            #expect(vain(in: plan) < 2_000, "\(plan)")
        }
        // The 600 words of the hour are counted for the quotas. Only the new ones are put in order.
        let ordered = (lateLines.all.filter { $0.contains("INSERT INTO log.word") }).flatMap { plan in
            plan.matches(of: /WindowAgg .*rows=([0-9]+) loops/).compactMap { Int($0.output.1) }
        }
        #expect(ordered.max().map { $0 < 300 } == true, "\(ordered)")
        let words: Int64 = try database.value("SELECT count(*) FROM log.word WHERE kind = 1 AND sent <> '(other)'")
        #expect(words == 800)
    }

    @Test(
        "a full dictionary refuses nothing: the column shows (other), extra has the word, the quality of the data counts it"
    )
    func bound() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, second) = (try database.makeApp(), try database.makeApp("second"))
        let other = quotedRow("(other)")
        let appender = try database.appender(mostWords: 3)
        let accepted = [Verdict](repeating: .accepted, count: 5)
        #expect(try appender.append([app.submission(events(["A", "B"]))]) == [[.accepted, .accepted]])
        // Of two new words at once the first in order gets the last place.
        #expect(
            try appender.append([
                app.submission(events(["D", "A", "C", "D", nil]).map { $0.received(later: 1) }),
                second.submission(events(["D"])),
            ]) == [accepted, [.accepted]])
        let raw = #"{"notification": {"category": "D"}}"#
        #expect(
            try shown(database) == [
                "(A,)", "(B,)", "(\(other),\(quotedRow(raw)))", "(A,)", "(C,)", "(\(other),\(quotedRow(raw)))", "(,)",
            ])
        #expect(
            try database.value(
                "SELECT words FROM log.word_count WHERE app = \(app.app.id) AND kind = 1", as: Int32.self) == 3)
        #expect(try database.column("SELECT other FROM analytics.data_quality ORDER BY app") == [Int64(2), 0])
        #expect(try database.value("SELECT count(*) FROM analytics.rejected_events", as: Int64.self) == 0)
        // It is a word like any other: the fold and the recount agree on it.
        _ = try database.projections().catchUp()
        try database.expectProved()
        #expect(
            try database.analystRows(
                "SELECT category, delivered FROM category_funnel WHERE app = 'chat' ORDER BY category")
                == [#"("",1)"#, "(\(other),2)", "(A,2)", "(B,1)", "(C,1)"])
        // With more room the same word is learned.
        let roomier = try database.appender(mostWords: 4)
        _ = try roomier.append([app.submission(events(["D"]).map { $0.received(later: 2) })])
        #expect(try shown(database).last == "(D,)")
    }

    @Test("who sends the reserved word itself means all that were not learned, and takes no place")
    func reserved() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let other = quotedRow("(other)")
        let appender = try database.appender(mostWords: 1)
        _ = try appender.append([app.submission(events(["(other)", "A", "B", "(other)"]))])
        #expect(
            try shown(database) == [
                "(\(other),)", "(A,)", "(\(other),\(quotedRow(#"{"notification": {"category": "B"}}"#)))",
                "(\(other),)",
            ])
        #expect(
            try database.column(
                "SELECT value FROM log.word WHERE kind = 1 ORDER BY value", of: String.self) == ["(other)", "A"])
    }

    @Test("an install, and a key, teach so many words within an hour, of all members together, and then no more")
    func quotas() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        var configuration = Appender.Configuration.NewWords()
        // ios and 4.2.0 are two of them.
        (configuration.ofInstall, configuration.ofKey) = (4, 7)
        let (one, two) = (UUID(high: 1, low: 1), UUID(high: 1, low: 2))
        var count: UInt64 = 0
        func events(_ categories: [String], of install: UUID) -> [Event] {
            categories.map { category in
                count += 1
                return Event.sample(id: UUID(high: 0, low: count), install: install, category: category)
            }
        }
        func append(_ events: [Event]) throws {
            // Each by another process, with another connection: what was taught is known to all.
            let verdicts = try database.appender(newWords: configuration).append([app.submission(events)])
            #expect(verdicts == [[Verdict](repeating: .accepted, count: events.count)])
        }
        try append(events(["A1"], of: one))
        try append(events(["A2", "A3"], of: one))
        try append(events(["B1", "A1", "B2"], of: two))
        try append(events(["B3", "B4"], of: two))
        let (o, categories) = (
            "(other)",
            try database.column("SELECT category FROM analytics.events ORDER BY batch, event_id", of: String.self)
        )
        #expect(categories == ["A1", "A2", o, "B1", "A1", "B2", "B3", o])
        // Another app's words are its own, and after the hour there are more.
        _ = try database.appender(newWords: configuration).append([other.submission(events(["B4"], of: two))])
        try database.run("UPDATE log.word SET learned_at = learned_at - interval '1 hour'")
        try append(events(["A3"], of: one))
        #expect(
            try database.value(
                "SELECT count(*) FROM analytics.events WHERE category IN ('A3', 'B4')", as: Int64.self) == 2)
    }

    @Test("the word that was not learned stands where it was sent, beside what else is kept, and within its bound")
    func extra() {
        var event = Event.sample(interaction: .actionTapped(ActionTap(actionID: #"a"b"#)))
        func extra(_ kinds: [WordKind], beside rest: String?) -> String {
            var chosen = WordKinds()
            for kind in kinds { chosen.insert(kind) }
            event.extra = rest.map { Array($0.utf8) }
            let envelope = DecodedEnvelope(of: [event], receivedAt: Event.sampleTime)
            return String(decoding: envelope.extra(of: 0, withRaw: chosen), as: UTF8.self)
        }
        #expect(extra([], beside: #"{"x":1}"#) == #"{"x":1}"#)
        #expect(extra([.campaign], beside: #"{"x":1}"#) == #"{"x":1}"#)
        #expect(extra([.actionID], beside: nil) == #"{"action_id":"a\"b"}"#)
        #expect(
            extra([.category, .actionID, .appVersion], beside: nil)
                == #"{"source":{"app_version":"4.2.0"},"notification":{"category":"INFO_CATEGORY"},"action_id":"a\"b"}"#
        )
        #expect(
            extra([.category], beside: #"{"a":"\"notification\":{","b":{"notification":{}},"notification":{"z":[1]}}"#)
                == #"{"a":"\"notification\":{","b":{"notification":{}},"notification":{"category":"INFO_CATEGORY","z":[1]}}"#
        )
        let long = "{\"x\":\"\(String(repeating: "y", count: 4080))\"}"
        #expect(
            extra([.category], beside: long)
                == #"{"notification":{"category":"INFO_CATEGORY"},"_dropped":\#(long.utf8.count)}"#)
        #expect(
            extra([.category], beside: #"{"_dropped":9}"#)
                == #"{"notification":{"category":"INFO_CATEGORY"},"_dropped":9}"#)
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
                coalesce("authorization", '-'), coalesce(show_previews, '-'), coalesce(category, '-'),
                coalesce(thread, '-'), coalesce(topic, '-'))
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
        appender.resolver.words = WordCache(capacity: 4)
        appender.resolver.combinations = CombinationCache(capacity: 4)
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

extension Event {
    /// The same under another id, so many seconds later.
    fileprivate func received(later seconds: UInt64) -> Event {
        let time = Event.sampleTime + Int64(seconds) * 1_000_000
        return Event(
            id: UUID(high: seconds, low: id.low), deviceAt: time, occurredAt: time, receivedAt: time,
            timeSource: timeSource,
            source: source, notification: notification, interaction: interaction)
    }
}

/// A text as a row shows it that is made text.
private func quotedRow(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }
