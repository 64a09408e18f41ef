import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("The categories of a fresh day")
struct MoversReportTests {
    @Test("are compared with what reports of the same weekday said when it was as old, not with what it counts now")
    func told() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let nights = try ReportedNights(in: database)
        /// Two hundred receive, so many of them open.
        func day(_ day: Int, opened: Int) throws -> Report {
            let installs = [UUID].random(200)
            try nights.take(installs, on: day)
            try nights.take(Array(installs.prefix(opened)), on: day, .opened(launch: nil), hour: 13)
            return try nights.report(day).report
        }
        #expect(try day(6, opened: 100).movers.isEmpty)
        let second = try day(13, opened: 110)
        #expect(second.movers.map(\.usual) == [0.5] && second.movers.map(\.pooled) == [Rate(100, of: 200)])
        // What comes late lowers the rates of the past, and not what was told of them.
        try nights.take(.random(300), on: 6)
        try nights.take(.random(300), on: 13)
        let today = try day(20, opened: 20)
        let mover = try #require(today.movers.first)
        #expect(today.movers.count == 1 && today.headline.usual?.age == .same)
        #expect(mover.rate == Rate(20, of: 200) && mover.pooled == Rate(210, of: 400))
        #expect(mover.usual == 0.525 && mover.verdict.isLower)
        let categories = try nights.database.value(
            "SELECT string_agg(format('%s %s %s', extract(day FROM day), received, received_responded), ',' ORDER BY day) FROM analytics.report_categories",
            as: String.self)
        #expect(categories == "6 200 100,13 200 110,20 200 20")
    }
}
