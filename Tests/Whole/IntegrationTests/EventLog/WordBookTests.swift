import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Undoing what a dictionary has learned")
struct WordBookTests {
    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    /// So many taps in each category, of installs of their own, from so many seconds on.
    private func taps(_ categories: [String], at seconds: Int64) -> [Event] {
        categories.map { category in
            Event.sample(
                at: Event.sampleTime + seconds * 1_000_000, category: category,
                interaction: .actionTapped(ActionTap(actionID: "to \(category)")))
        }
    }

    private func inTransaction(_ body: (WordBook, inout Connection) throws -> Void) throws {
        var connection = try database.session(nil)
        try connection.execute(script: "BEGIN ISOLATION LEVEL READ COMMITTED")
        try body(WordBook(of: app.app), &connection)
        try connection.execute(script: "COMMIT")
    }

    private func events() throws -> [String] {
        try database.analystRows(
            "SELECT category, action_id, count(*) FROM events GROUP BY category, action_id ORDER BY category, action_id"
        )
    }

    private func funnel() throws -> [String] {
        try database.analystRows("SELECT category, delivered FROM category_funnel ORDER BY category")
    }

    @Test(
        "a merged word is shown as the other one at once, counted as it by a rebuild, by steps too, and can stand alone again"
    )
    func merge() throws {
        defer { database.drop() }
        let appender = try database.appender()
        let control = try database.projections()
        _ = try appender.append([app.submission(taps(["A", "B", "C", "C"], at: 0))])
        _ = try control.catchUp()
        try inTransaction { book, connection in
            try book.merge(["A"], into: "B", of: .category, on: &connection)
            // What counts as B follows it.
            try book.merge(["B"], into: "C", of: .category, on: &connection)
            try book.merge(["to A"], into: "to C", of: .actionID, on: &connection)
        }
        #expect(try events() == [#"(C,"to B",1)"#, #"(C,"to C",3)"#])
        // The writer knows the old words by heart, and that is right.
        _ = try appender.append([app.submission(taps(["A", "C"], at: 60))])
        _ = try control.catchUp()
        try control.rebuild().expectSwapped()
        try database.expectProved()
        #expect(try funnel() == ["(C,6)"])
        #expect(
            try database.analystRows("SELECT category, action_id, taps FROM category_actions ORDER BY action_id")
                == [#"(C,"to B",1)"#, #"(C,"to C",5)"#])
        // What comes after is counted so by every step.
        _ = try appender.append([app.submission(taps(["A", "B", "D"], at: 120))])
        _ = try control.catchUp()
        try database.expectProved()
        #expect(try funnel() == ["(C,8)", "(D,1)"])

        try inTransaction { book, connection in
            #expect(throws: WordBookError.self) { try book.merge(["C"], into: "A", of: .category, on: &connection) }
            #expect(throws: WordBookError.self) { try book.merge(["E"], into: "A", of: .category, on: &connection) }
            #expect(throws: WordBookError.self) { try book.merge(["A"], into: "E", of: .category, on: &connection) }
            #expect(throws: WordBookError.self) {
                try book.merge(["(other)"], into: "A", of: .category, on: &connection)
            }
            try book.merge(["A"], into: "A", of: .category, on: &connection)
            try book.merge(["D"], into: "(other)", of: .category, on: &connection)
        }
        try control.rebuild().expectSwapped()
        try database.expectProved()
        #expect(try funnel() == [#"("(other)",1)"#, "(A,3)", "(C,5)"])
    }

    @Test("words that have no room in a row's dictionary are counted as what they were merged into, too")
    func loose() throws {
        defer { database.drop() }
        // Three words of a kind are allowed, so thirty contexts.
        let appender = try database.appender(mostWords: 3)
        let control = try database.projections()
        let words = ["a", "b", "c"]
        var events: [Event] = []
        for (first, second, third, fourth) in words.flatMap({ a in
            words.flatMap { b in words.flatMap { c in words.map { d in (a, b, c, d) } } }
        }) {
            events.append(
                Event(
                    id: .random(), deviceAt: Event.sampleTime, occurredAt: Event.sampleTime,
                    receivedAt: Event.sampleTime,
                    timeSource: .device, source: Source(installID: .random()),
                    notification: Notification(
                        id: "n", category: first, thread: second, campaign: third, variant: fourth),
                    interaction: .opened(launch: nil)))
        }
        _ = try appender.append([app.submission(events)])
        #expect(try database.value("SELECT count(*) FROM log.event WHERE rare ? 'context'", as: Int64.self) == 51)
        try inTransaction { book, connection in try book.merge(["a"], into: "b", of: .category, on: &connection) }
        _ = try control.catchUp()
        #expect(try funnel() == ["(b,54)", "(c,27)"])
        // A merge makes a rebuild due, even if nothing was counted before it.
        try control.rebuild().expectSwapped()
        try database.expectProved()
        #expect(try funnel() == ["(b,54)", "(c,27)"])
    }

    @Test("pruned words are (other) wherever they stood, make room, and are learned anew when they come again")
    func prune() throws {
        defer { database.drop() }
        let appender = try database.appender(mostWords: 4)
        let control = try database.projections()
        _ = try appender.append([app.submission(taps(["A", "B"], at: 0))])
        var connection = try database.session(nil)
        let leaked = try APIKeys.add(to: "chat", kind: .write, name: "leaked", on: &connection).key
        let poison = taps(["X1", "X2", "X3"], at: 10)
        _ = try appender.append([
            Submission(app: app.id, key: leaked.id, receivedAt: Event.sampleTime, events: poison)
        ])
        _ = try appender.append([app.submission(taps(["NEW"], at: 20))])
        _ = try control.catchUp()
        #expect(try funnel() == [#"("(other)",2)"#, "(A,1)", "(B,1)", "(X1,1)", "(X2,1)"])

        let book = WordBook(of: app.app)
        var choice = WordBook.Choice()
        choice.key = "leaked"
        // Two categories and two actions: of both there was no more room.
        #expect(
            try book.list(choice, most: 10, on: &connection).map(\.word).sorted() == ["X1", "X2", "to X1", "to X2"])
        try inTransaction { book, connection in
            // A word that was merged into one of them stands for itself again.
            try book.merge(["B"], into: "X1", of: .category, on: &connection)
            #expect(try book.prune(choice, on: &connection) == 4)
        }
        #expect(try book.list(choice, most: 10, on: &connection).isEmpty)
        let count = try #require(try book.counts(on: &connection).first)
        #expect(count.member == "category" && count.words == 2 && count.fresh == 2 && count.merged == 0)
        #expect(
            try database.column("SELECT combinations FROM log.combination_count WHERE dictionary = 'context'")
                == [Int32(3)], "contexts with A, B and (other)")
        // The same writer, which knew the words by heart.
        _ = try appender.append([app.submission(taps(["A"], at: 30))])
        _ = try appender.append([app.submission(taps(["X2", "NEW"], at: 40))])
        try control.rebuild().expectSwapped()
        try database.expectProved()
        #expect(try funnel() == [#"("(other)",4)"#, "(A,2)", "(B,1)", "(NEW,1)", "(X2,1)"])
    }

    @Test("while somebody prunes nothing is learned, and nobody waits")
    func busy() throws {
        defer { database.drop() }
        let appender = try database.appender()
        _ = try appender.append([app.submission(taps(["A"], at: 0))])
        try inTransaction { book, connection in try book.reserve(on: &connection) }
        try inTransaction { book, connection in
            var choice = WordBook.Choice()
            choice.words = ["A"]
            #expect(try book.prune(choice, on: &connection) == 1)
            // The transaction is open. New words and a new context do not wait for its end: a writer gives up after ten
            // seconds.
            let event = Event.sample(category: "B", interaction: .opened(launch: nil))
            var log = try database.session(.ingest)
            log.deadline = .after(seconds: 5)
            let learned = try log.query(
                """
                SELECT is_other FROM log.learn_words(\(app.app.id), 1::smallint, \(["B"]), \([app.key.id]),
                    \([event.source.installID]), 100, 100, 100)
                """)
            let isOther: Bool = try learned[0].get(0)
            #expect(isOther)
            let combined = try log.query(
                """
                SELECT id IS NULL FROM log.learn_combinations(
                    'context', \(app.app.id), 7, \([Int32](repeating: 1, count: 7)), 100)
                """)
            let isLoose: Bool = try combined[0].get(0)
            #expect(isLoose)
        }
        _ = try appender.append([app.submission(taps(["B"], at: 10))])
        #expect(try database.column("SELECT category FROM analytics.events ORDER BY batch") == ["(other)", "B"])
    }

    @Test("a batch that crosses a prune asks for its words again: none of its events shows a word that is gone")
    func crossing() throws {
        defer { database.drop() }
        let appender = try database.appender()
        _ = try appender.append([app.submission(taps(["A"], at: 0))])
        try inTransaction { book, connection in
            var choice = WordBook.Choice()
            choice.words = ["A", "to A"]
            let pruned = try book.prune(choice, on: &connection)
            #expect(pruned == 2)
        }
        // It knows the ids by heart, and learns only when it commits that they stand for nothing.
        #expect(try appender.append([app.submission(taps(["A"], at: 10))]) == [[.accepted]])
        #expect(
            try database.analystRows("SELECT category, action_id FROM events ORDER BY batch")
                == [#"("(other)","(other)")"#, #"(A,"to A")"#])
    }
}
