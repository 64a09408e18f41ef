import Accounts
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Whether the funnels can be reported from")
struct ReadinessTests {
    /// A day that ends after everything that a test commits, and one that ended before.
    private static let (lasting, over) = (
        CivilDate(year: 2199, month: 1, day: 1)!, CivilDate(year: 2009, month: 1, day: 1)!
    )

    private static let app = ReportedApp(slug: "shop", timeZone: "UTC", today: lasting)

    /// What waiting ends with, and what was told before it began.
    private func wait(
        _ day: CivilDate = lasting, seconds: Double = 0, in database: TestDatabase
    ) throws -> (error: ReadinessError?, told: [NotReady]) {
        var connection = try database.session(.reporter)
        var told: [NotReady] = []
        let readiness = try Readiness(for: day, of: Self.app, on: &connection)
        do {
            try readiness.wait(until: .after(seconds: seconds), on: &connection) { told.append($0) }
            return (nil, told)
        } catch { return (error, told) }
    }

    private func append(_ count: Int, of app: TestApp, in database: TestDatabase) throws {
        try database.appendReceipts(1...count, of: app)
    }

    @Test("an empty log can")
    func empty() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        #expect(try wait(in: database).error == nil)
    }

    @Test("those that are behind cannot until the deadline, and it is told once how far they are")
    func behind() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        try append(3, of: app, in: database)
        let (error, told) = try wait(seconds: 0.25, in: database)
        guard case .notReady(.behind(position: 0, needed: 3, _)) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(told.count == 1 && "\(told[0])".contains("3 batches"))
        #expect("\(try #require(error))".contains("bellwether project --once"))
        // At once, when nobody wants to wait.
        #expect(try wait(in: database).told.isEmpty)
    }

    @Test("only what was committed before the end of the day is needed")
    func dayIsOver() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try append(3, of: database.makeApp("shop"), in: database)
        #expect(try wait(Self.over, in: database).error == nil)
        #expect(try wait(in: database).error != nil)
        // The end is midnight where the app is: batches of the last hour before it, and of the first after it.
        var administrator = try database.administrator()
        try administrator.execute(
            script: """
                ALTER TABLE log.batch DISABLE TRIGGER ALL;
                UPDATE log.batch SET committed_at = timestamptz '2026-11-20 16:30:00+00' + (number - 1) * interval '45 min';
                """)
        var connection = try database.session(.reporter)
        for (zone, day, needed) in [
            ("Asia/Bangkok", 20, 1), ("Asia/Bangkok", 19, 0), ("UTC", 20, 3), ("UTC", 19, 0), ("Asia/Bangkok", 21, 3),
        ] {
            let readiness = try Readiness(
                for: ReportedNights.day(day), of: ReportedApp(slug: "shop", timeZone: zone, today: Self.lasting),
                on: &connection)
            #expect(readiness.needed == ["": Int64(needed)], "\(zone) \(day)")
        }
    }

    @Test("waiting ends when somebody brings them level, and what comes after it began is not waited for")
    func becomesReady() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        try append(3, of: app, in: database)
        let isTold = Lock(false)
        let failure = Lock<String?>("it did not end")
        let waiting = Worker(name: "waits") {
            do {
                var connection = try database.session(.reporter)
                try Readiness(for: Self.lasting, of: Self.app, on: &connection)
                    .wait(until: .after(seconds: 20), on: &connection) { _ in isTold.withLockNotifying { $0 = true } }
                failure.withLock { $0 = nil }
            } catch { failure.withLock { $0 = "\(error)" } }
        }
        #expect(isTold.wait(until: .after(seconds: 10)) { $0 ? true : nil } == true)
        _ = try database.projections().catchUp()
        try append(2, of: app, in: database)
        waiting.join()
        #expect(failure.withLock { $0 } == nil)
    }

    @Test("one that has stopped is not waited for, and the way to resume it is told")
    func stopped() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try append(3, of: database.makeApp("shop"), in: database)
        _ = try database.projections().catchUp()
        #expect(try wait(in: database).error == nil)
        for (name, hint) in [
            ("media_funnel", "bellwether projection resume media_funnel"), ("deliveries", "bellwether rebuild"),
        ] {
            try database.run(
                """
                UPDATE projection.projector SET stopped_at = now(), stopped_batch = 3, stopped_because = 'a nail'
                WHERE name = '\(name)'
                """)
            let (error, told) = try wait(seconds: 30, in: database)
            #expect(told.isEmpty)
            #expect(error?.description.contains(hint) == true && error?.description.contains("a nail") == true)
        }
    }

    @Test("deliveries on their way to the days of another time zone are waited for")
    func moving() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        try append(3, of: app, in: database)
        _ = try database.projections().catchUp()
        var connection = try database.connect()
        try ZoneChange.remember("shop", on: &connection)
        try Apps.set(timeZone: "Asia/Tokyo", of: "shop", on: &connection)
        let error = try #require(try wait(in: database).error)
        #expect(error.description.contains("Asia/Tokyo") && error.description.contains("app set shop"), "\(error)")
        for change in try ZoneChange.pending(.recorded, on: &connection) { _ = try change.make(on: &connection) }
        #expect(try wait(in: database).error == nil)
    }

    @Test("the day of an app is that of its time zone")
    func today() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        for (slug, zone) in [
            ("bangkok", "Asia/Bangkok"), ("apia", "Pacific/Apia"), ("utc", "UTC"), ("la", "America/Los_Angeles"),
        ] {
            _ = try database.makeApp(slug, timeZone: zone)
        }
        var connection = try database.session(.reporter)
        let apps = try ReportedApp.all(at: ReportedNights.time(20, 18), on: &connection)
        #expect(apps.map { "\($0.slug) \($0.today.day)" } == ["apia 21", "bangkok 21", "la 20", "utc 20"])
    }
}
