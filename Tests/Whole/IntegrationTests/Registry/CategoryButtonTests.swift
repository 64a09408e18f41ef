import Postgres
import Telemetry
import TestSupport
import Testing

@testable import Registry

@Suite("What is said of buttons")
struct CategoryButtonTests {
    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    private static let four = ["ONE", "TWO", "THREE", "FOUR"].map { Button.titled($0) }

    @Test("without content extension nobody knows who saw them: untapped ones beyond the second may be cut off")
    func unknown() throws {
        defer { database.drop() }
        try app.register(Category(id: "INFO", buttons: Self.four))
        try app.exposed("INFO", 1000)
        try app.tapped("INFO", "TWO", 5)
        #expect(
            try app.verdicts() == [
                "(INFO,FOUR,,0,may_be_cut_off)", "(INFO,ONE,,0,exposure_unknown)", "(INFO,THREE,,0,may_be_cut_off)",
                "(INFO,TWO,,5,tapped)",
            ])
    }

    @Test("with one, a button is untapped once its rate is bound below 1 %, and before that they were too few")
    func known() throws {
        defer { database.drop() }
        try app.register(
            Category(id: "MANY", buttons: [.titled("A"), .titled("B")], contentExtension: true),
            Category(id: "FEW", buttons: [.titled("A")], contentExtension: true),
            Category(id: "NONE", buttons: [.titled("A")], contentExtension: true))
        try app.exposed("MANY", 200, generation: 0)
        try app.exposed("MANY", 99, day: "2026-11-21", shard: 3)
        try app.tapped("MANY", "B", 13, taps: 17, generation: 0)
        try app.exposed("FEW", 298)
        #expect(
            try app.verdicts() == [
                "(FEW,A,298,0,too_few)", "(MANY,A,299,0,untapped)", "(MANY,B,299,13,tapped)", "(NONE,A,0,0,too_few)",
            ])
        #expect(
            try app.rows(
                "category, action_id, taps, tap_rate, rate_bound", "category_buttons", by: "1, 2")
                == [
                    "(FEW,A,0,0.0000,0.0101)", "(MANY,A,0,0.0000,0.0100)", "(MANY,B,17,0.0435,)",
                    "(NONE,A,0,,)",
                ])
    }

    @Test("what was retired is as it was registered last, whichever set was imported last")
    func lastRegistered() throws {
        defer { database.drop() }
        let other = Category(id: "OTHER", buttons: [.titled("O")])
        try app.register(Category(id: "X", buttons: [.titled("A"), .titled("B")], contentExtension: true))
        try app.register(Category(id: "X", buttons: [.titled("C"), .titled("A")]), set: .hive)
        #expect(try app.rows("category_set, edition", "categories", by: "category") == ["(hive,2)"])
        try app.register(other, set: .hive)
        #expect(try app.rows("category_set, edition", "categories", by: "category") == ["(hive,3)", "(own,1)"])
        try app.register(other, set: .own)
        #expect(
            try app.rows("category, category_set, edition, retired_at IS NULL", "categories", by: "category")
                == ["(OTHER,own,4,t)", "(X,own,1,f)"])
        #expect(
            try app.rows(
                "action_id, position, exposures IS NULL, verdict", "category_buttons", by: "category, action_id")
                == ["(O,1,t,exposure_unknown)", "(A,1,f,retired)", "(B,2,f,retired)", "(C,1,t,retired)"])
    }

    @Test("what is tapped and was never registered is unregistered, also where nothing is; what was is retired")
    func others() throws {
        defer { database.drop() }
        try app.register(Category(id: "INFO", buttons: [.titled("OLD"), .titled("KEPT")], contentExtension: true))
        try app.register(Category(id: "INFO", buttons: [.titled("KEPT")], contentExtension: true))
        try app.exposed("INFO", 500)
        try app.tapped("INFO", "OLD", 3)
        try app.tapped("INFO", "WRONG", 2)
        try app.tapped("ELSE", "KEPT", 1)
        try app.tapped("", "KEPT", 4)
        // Cells that came and went leave rows of zeros.
        try app.tapped("INFO", "GONE", 0)
        #expect(
            try app.verdicts() == [
                #"("",KEPT,,4,unregistered)"#, "(ELSE,KEPT,,1,unregistered)", "(INFO,KEPT,500,0,untapped)",
                "(INFO,OLD,500,3,retired)", "(INFO,WRONG,500,2,unregistered)",
            ])
    }

    @Test("a button that was added counts what was seen since, or since its first tap; a retired one until then")
    func added() throws {
        defer { database.drop() }
        let today: String = try database.value("SELECT (now() AT TIME ZONE 'UTC')::date::text")
        let yesterday: String = try database.value("SELECT ((now() AT TIME ZONE 'UTC')::date - 1)::text")
        let tomorrow: String = try database.value("SELECT ((now() AT TIME ZONE 'UTC')::date + 1)::text")
        try app.register(Category(id: "INFO", buttons: [.titled("FIRST"), .titled("GONE")], contentExtension: true))
        try app.register(
            Category(id: "INFO", buttons: [.titled("FIRST"), .titled("NEW"), .titled("EARLY")], contentExtension: true))
        try app.exposed("INFO", 1000, day: "2026-01-01")
        try app.exposed("INFO", 400, day: yesterday)
        try app.exposed("INFO", 100, day: today)
        try app.exposed("INFO", 50, day: tomorrow)
        try app.tapped("INFO", "EARLY", 1, day: yesterday)
        #expect(
            try app.verdicts() == [
                "(INFO,EARLY,550,1,tapped)", "(INFO,FIRST,1550,0,untapped)", "(INFO,GONE,1500,0,retired)",
                "(INFO,NEW,150,0,too_few)",
            ])
        // Tapped in old versions of the app, it is still there.
        try app.tapped("INFO", "GONE", 1, day: tomorrow)
        #expect(try app.verdicts()[2] == "(INFO,GONE,1550,1,retired)")
    }

    @Test("answers are counted by what buttons mean, retired ones too, and nothing where nobody said")
    func answers() throws {
        defer { database.drop() }
        try app.register(
            Category(
                id: "RAID",
                buttons: [
                    .titled("JOIN", answer: .accept), .titled("YES", answer: .accept), .titled("CLOSE", answer: .close),
                    .titled("MORE"),
                ]))
        try app.tapped("RAID", "JOIN", 5, taps: 6)
        try app.tapped("RAID", "JOIN", 10, generation: 0, shard: 2)
        try app.tapped("RAID", "YES", 1)
        try app.tapped("RAID", "CLOSE", 7, day: "2026-11-21")
        try app.tapped("RAID", "MORE", 3)
        try app.tapped("RAID", "OTHER", 2)
        try app.tapped("", "JOIN", 9)
        let expected = [
            #"(2026-11-20,"","",9,9)"#, #"(2026-11-20,RAID,"",5,5)"#, "(2026-11-20,RAID,accept,16,17)",
            "(2026-11-21,RAID,close,7,7)",
        ]
        func answers() throws -> [String] {
            try app.rows("day, category, answer, tapped_deliveries, taps", "category_answers", by: "1, 2, 3")
        }
        #expect(try answers() == expected)
        try app.register(#"{"categories": []}"#)
        #expect(try answers() == expected)
    }

    @Test("dismiss rates stand where a custom dismiss action is registered now")
    func dismissRate() throws {
        defer { database.drop() }
        for (category, delivered, dismissed) in [("A", 8, 2), ("B", 8, 2), ("C", 4, 0)] {
            try app.insert(
                "category_funnel",
                [
                    "category": try app.word(.category, category), "delivered": delivered,
                    "dismissed": dismissed,
                ])
        }
        func rates() throws -> [String] {
            try app.rows("category, dismissed, round(dismiss_rate, 3)", "category_funnel", by: "1")
        }
        #expect(try rates() == ["(A,2,)", "(B,2,)", "(C,0,)"])
        try app.register(
            Category(id: "A", customDismiss: true), Category(id: "B"), Category(id: "C", customDismiss: true))
        #expect(try rates() == ["(A,2,0.250)", "(B,2,)", "(C,0,0.000)"])
        try app.register(Category(id: "A"))
        #expect(try rates() == ["(A,2,)", "(B,2,)", "(C,0,)"])
    }

    @Test("names of apps, categories and buttons are taken as they are, whatever they hold")
    func names() throws {
        defer { database.drop() }
        let id = #"50% off; DROP TABLE {x} $1 / Ünïcödé"#
        try app.register(Category(id: id, buttons: [.titled(id)], contentExtension: true))
        try app.tapped(id, id, 2)
        try app.exposed(id, 2)
        #expect(try app.rows("tap_rate::integer, verdict", "category_buttons", by: "1") == ["(1,tapped)"])
    }
}
