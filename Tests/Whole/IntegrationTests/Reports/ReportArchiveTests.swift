import Accounts
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Reports are kept")
struct ReportArchiveTests {
    @Test("as they were printed, in every format and to the byte, with what they told of their day")
    func kept() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let installs = [UUID].random(4)
        try nights.take(installs, on: 20)
        try nights.take(Array(installs.prefix(3)), on: 20, .opened(launch: nil), hour: 13)
        let made = try nights.report(20)
        #expect(made.keeping.isNew && made.report.position == 2)
        let kept = try #require(try nights.newest(20, atOrBefore: 2))
        #expect(kept.place.madeAt == ReportedNights.time(21, 3) && kept.documents.isSame(as: made.documents))
        for format in ReportFormat.allCases {
            #expect(Array(kept.documents[format].utf8) == Array(format.document(of: made.report).utf8), "\(format)")
        }
        #expect(
            try database.analystRows("SELECT * FROM reports") == [
                "(shop,2026-11-20,2,\"2026-11-21 03:00:00+00\",t,4,4,3,3,0.7500,3,0.7500,)"
            ])
    }

    @Test("and found again at or before a position, those of other days and apps aside")
    func asOf() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let others = try ReportedNights("others", in: database)
        var made: [Reporter.Made] = []
        for _ in 0..<2 {
            try nights.take(.random(2), on: 20)
            made.append(try nights.report(20))
            try others.take(.random(1), on: 20)
            _ = try others.report(20)
            _ = try nights.report(19, madeOn: 21)
        }
        #expect(made.map(\.report.position) == [1, 3])
        #expect(try nights.newest(20, atOrBefore: 0) == nil)
        for (position, place) in [(1, 0), (2, 0), (3, 1), (4, 1), (Int64.max, 1)] as [(Int64, Int)] {
            let kept = try #require(try nights.newest(20, atOrBefore: position))
            #expect(kept.documents.isSame(as: made[place].documents), "\(position)")
        }
        #expect(try nights.kept() == ["20 3", "20 1", "19 4", "19 2"])
        #expect(try nights.newest(18, atOrBefore: .max) == nil)
    }

    @Test("once, however often and however late the same is made, and it is what is printed; again with another batch")
    func idempotent() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        let first = try nights.report(20)
        // What moves with the clock, and with what earlier nights told, makes no other report.
        _ = try nights.report(19, madeOn: 21)
        try database.run("UPDATE report.told SET woken = 5 WHERE day = '2026-11-19'")
        for hour in [3, 4, 12] {
            let made = try nights.report(20, hour: hour)
            #expect(made.keeping.isAsBefore && made.documents.isSame(as: first.documents), "\(hour)")
            #expect(made.report.madeAt == first.report.madeAt)
            #expect(made.report.settling.hoursSinceEnd == hour && made.report.restated.count == 1)
        }
        #expect(try nights.kept() == ["20 1", "19 1"])
        try nights.take(.random(1), on: 20)
        #expect(try nights.report(20, hour: 13).keeping.isNew)
        #expect(try nights.kept() == ["20 2", "20 1", "19 1"])
        #expect(try nights.newest(20, atOrBefore: 1)?.documents.isSame(as: first.documents) == true)
    }

    @Test("again at the same position where it tells something else, and once more when the day is over")
    func notTheSame() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        #expect(try nights.report(20, madeOn: 20, hour: 13).keeping.isNew)
        #expect(try nights.report(20, madeOn: 20, hour: 23).keeping.isAsBefore)
        #expect(try nights.report(20, hour: 0).keeping.isNew)
        #expect(try nights.report(20).keeping.isAsBefore)
        #expect(try database.analystRows("SELECT final FROM reports ORDER BY made_at") == ["(f)", "(t)"])
        // As rebuilding with other rules would.
        try database.run("UPDATE projection.category_funnel SET expanded = 1")
        #expect(try nights.report(20).keeping.isNew)
        #expect(try nights.kept() == ["20 1", "20 1", "20 1"])
    }

    @Test("the text for a terminal is what was kept, in the colours of the report")
    func coloured() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        let first = try nights.report(20)
        #expect(first.colouredText == TextDocument(Page(first.report)).text(inColour: true))
        let again = try nights.report(20, hour: 9)
        #expect(again.keeping.isAsBefore && again.colouredText.contains("\u{1b}[1m"))
        #expect(again.colouredText.replacing(/\u{1b}\[[0-9;]*m/, with: "") == first.documents.text)
    }

    @Test("once, by however many at once")
    func together() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        try TestSupport.together(4) { _ in
            for _ in 0..<3 { _ = try nights.report(20) }
        }
        #expect(try nights.kept() == ["20 1"])
    }

    @Test("of a day and an app without anything too")
    func empty() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let made = try nights.report(20)
        #expect(made.report.isEmpty && made.keeping.isNew)
        #expect(
            try database.analystRows("SELECT position, delivered, response_rate FROM reports") == ["(0,0,)"])
        #expect(try nights.report(20).keeping.isAsBefore)
    }

    @Test("a report that cannot be kept can be read all the same, and the cause is told")
    func refused() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        try database.run("REVOKE INSERT ON report.told FROM bellwether_reporter")
        let made = try nights.report(20)
        guard case .failed(let error) = made.keeping else {
            Issue.record("it was kept: \(made.keeping)")
            return
        }
        #expect(error.state == .insufficientPrivilege)
        #expect(made.report.headline.counts.delivered == 2)
        #expect(made.documents.isSame(as: ReportDocuments(of: made.report)))
        // Nothing of it is half there.
        #expect(try nights.kept() == [])
    }

    @Test("who keeps reports can change none, and reads nothing behind the views")
    func role() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 20)
        _ = try nights.report(20)
        var reporter = try database.session(.reporter)
        #expect(try reporter.query("SELECT FROM analytics.events").count == 2)
        for script in [
            "UPDATE report.kept SET position = 0", "DELETE FROM report.kept", "TRUNCATE report.kept, report.told",
            "UPDATE report.told SET delivered = 0", "DELETE FROM report.told", "SELECT FROM log.event",
            "SELECT FROM log.app", "SELECT FROM projection.delivery", "SELECT FROM bellwether.migration",
            "INSERT INTO log.app (slug, time_zone) VALUES ('mine', 'UTC')", "CREATE TABLE report.mine ()",
        ] {
            let error = #expect(throws: PostgresError.self) { try reporter.execute(script: script) }
            #expect(error?.state == .insufficientPrivilege, "\(script)")
        }
        #expect(throws: PostgresError.self) {
            try reporter.execute(
                script: """
                    INSERT INTO report.kept (app, day, position, made_at, is_final, received_engaged, content, as_text,
                        as_markdown, as_html, as_json, as_csv)
                    VALUES ('nobody', '2026-11-20', 1, now(), true, 0, '', '', '', '', '', '')
                    """)
        }
        #expect(try nights.kept() == ["20 1"])
    }
}
