import Accounts
import Postgres
import Projections
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Days that changed since they were told")
struct RestatementTests {
    /// The restatements of a report: `19: 2 -> 3 at 1`, deliveries from and to, and where they were told.
    private func told(_ made: Reporter.Made) -> [String] {
        made.report.restated.map { "\($0.day.day): \($0.told.delivered) -> \($0.now.delivered) at \($0.toldAt)" }
    }

    @Test("are told by the next report, from what to what, and then no more until they change again")
    func nights() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 17)  // 1
        #expect(told(try nights.report(17)) == [])
        try nights.take(.random(3), on: 18)  // 2
        #expect(told(try nights.report(18)) == [])
        try nights.take(.random(1), on: 17)  // 3: late
        try nights.take(.random(4), on: 18)  // 4: late
        try nights.take(.random(5), on: 19)  // 5
        #expect(told(try nights.report(19)) == ["18: 3 -> 7 at 2", "17: 2 -> 3 at 1"])
        try nights.take(.random(1), on: 18)  // 6: late again
        #expect(told(try nights.report(20)) == ["18: 7 -> 8 at 5"])
        #expect(told(try nights.report(21)) == [])
    }

    @Test("are the same when the report of a night is made again, whatever later ones have told")
    func again() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 17)
        _ = try nights.report(17)
        try nights.take(.random(1), on: 17)
        let first = try nights.report(18)
        #expect(told(first) == ["17: 2 -> 3 at 1"])
        let same = try nights.report(18)
        #expect(same.keeping.isAsBefore && same.report == first.report)
        _ = try nights.report(19)
        #expect(told(try nights.report(18)) == ["17: 2 -> 3 at 1"])
        // With more late events it is another report, against what was told before that night.
        try nights.take(.random(2), on: 17)
        #expect(told(try nights.report(18)) == ["17: 2 -> 5 at 1"])
        // What was told in that night is what was told first.
        #expect(told(try nights.report(19)) == ["17: 3 -> 5 at 2"])
    }

    @Test("what somebody makes by hand of a night that is told takes no change from the next one")
    func byHand() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 17)  // 1
        _ = try nights.report(17)
        try nights.take(.random(3), on: 18)  // 2
        _ = try nights.report(18)
        try nights.take(.random(1), on: 17)  // 3: late
        try nights.take(.random(1), on: 18)  // 4: late
        let (seventeenth, eighteenth) = (try nights.report(17, madeOn: 19), try nights.report(18, madeOn: 19, hour: 20))
        #expect(seventeenth.keeping.isNew && seventeenth.report.headline.counts.delivered == 3)
        #expect(eighteenth.keeping.isNew && told(eighteenth) == ["17: 2 -> 3 at 1"])
        #expect(told(try nights.report(19)) == ["18: 3 -> 4 at 2", "17: 2 -> 3 at 1"])
        // Nor does one that was forgotten and is made later give away what its own day has gained since.
        try nights.take(.random(1), on: 18)  // 5
        #expect(told(try nights.report(19, hour: 20)) == ["18: 3 -> 5 at 2", "17: 2 -> 3 at 1"])
        #expect(told(try nights.report(20)) == ["18: 4 -> 5 at 4"])
    }

    @Test("a report of a day that lasts tells nothing, and takes nothing back")
    func today() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        try nights.take(.random(2), on: 17)  // 1
        _ = try nights.report(17)
        try nights.take(.random(1), on: 17)  // 2: late
        try nights.take(.random(1), on: 18)  // 3
        for hour in [9, 23] {
            #expect(told(try nights.report(18, madeOn: 18, hour: hour)) == ["17: 2 -> 3 at 1"], "\(hour)")
        }
        // A day that was told while it lasted, and not since, has not been told.
        #expect(told(try nights.report(19, madeOn: 19)) == ["17: 2 -> 3 at 1"])
        try nights.take(.random(2), on: 18)  // 4
        #expect(told(try nights.report(18)) == ["17: 2 -> 3 at 1"])
        #expect(told(try nights.report(19)) == [])
        try nights.take(.random(1), on: 18)  // 5
        #expect(told(try nights.report(20)) == ["18: 3 -> 4 at 4"])
    }

    @Test("a change of any figure counts, and all are told")
    func figures() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let installs = [UUID].random(5)
        try nights.take(installs, on: 17)
        _ = try nights.report(17)
        let changes: [(Int, Interaction, WritableKeyPath<DayFigures, Int64>)] = [
            (0, .dismissed, \.dismissed),
            (1, .opened(launch: nil), \.responded),
            (2, .storyStarted(StoryStart(pageCount: 1)), \.stories),
            (3, .storyFinished, \.storiesCompleted),
        ]
        for (night, (place, interaction, path)) in changes.enumerated() {
            try nights.take([installs[place]], on: 17, interaction, hour: 14)
            let made = try nights.report(18 + night)
            let restated = try #require(made.report.restated.first)
            #expect(made.report.restated.count == 1 && restated.now[keyPath: path] == restated.told[keyPath: path] + 1)
            #expect(restated.now.delivered == 5 && restated.now.received == 5)
        }
        try nights.wake(.random(2), on: 17)
        let silent = try #require(try nights.report(22).report.restated.first)
        #expect(silent.told.woken == 0 && silent.now.woken == 2 && silent.now.receivedResponded == 1)
        #expect(try nights.report(23).report.restated == [])
    }

    @Test("a day whose deliveries all went elsewhere is told as a day without any")
    func moved() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let installs = [UUID].random(3)
        try nights.take(installs, on: 17)
        _ = try nights.report(17)
        // What came first was on the day before.
        try nights.take(installs, on: 16, .expanded)
        #expect(told(try nights.report(18)) == ["17: 3 -> 0 at 1"])
        #expect(told(try nights.report(19)) == [])
    }

    @Test("those that an erasure or a change of zone has changed are told too")
    func otherCauses() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let installs = [UUID].random(3)
        try nights.take(installs, on: 17, hour: 23)
        _ = try nights.report(17)
        _ = try ErasureRun(database.projections()).run(app: nights.app.id, install: installs[0])
        _ = try database.projections().catchUp()
        #expect(told(try nights.report(18)) == ["17: 3 -> 2 at 1"])
        var connection = try database.connect()
        try ZoneChange.remember("shop", on: &connection)
        try Apps.set(timeZone: "Asia/Tokyo", of: "shop", on: &connection)
        for change in try ZoneChange.pending(.recorded, on: &connection) { _ = try change.make(on: &connection) }
        let moved = told(try nights.report(19))
        #expect(moved == ["18: 0 -> 2 at 2", "17: 2 -> 0 at 2"])
    }

    @Test("of another app are not told")
    func otherApps() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        let others = try ReportedNights("others", in: database)
        try others.take(.random(2), on: 17)
        _ = try others.report(17)
        _ = try nights.report(17)
        try others.take(.random(2), on: 17)
        #expect(told(try nights.report(18)) == [])
        #expect(told(try others.report(18)) == ["17: 2 -> 4 at 1"])
    }
}
