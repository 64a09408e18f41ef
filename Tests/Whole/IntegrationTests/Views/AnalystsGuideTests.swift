import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The analysts' guide")
struct AnalystsGuideTests {
    /// What a dashboard puts in the place of its own words.
    private static func asADashboardAsks(_ query: String) -> String {
        AnalystsGuide.asADashboardAsks(
            query, of: "shop", during: "'2026-11-01T00:00:00Z' AND '2026-11-30T22:59:59.999Z'")
    }

    @Test("has twenty questions and three of dashboards, and an analyst can run all of its SQL")
    func runs() throws {
        let queries = try AnalystsGuide.queries()
        #expect(queries.count == 25)
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        for funnel in AnalyticsFunnelViewTests.funnels {
            try app.insert(funnel.view, Dictionary(uniqueKeysWithValues: funnel.counts.map { ($0, 1) }))
        }
        for query in queries {
            #expect(throws: Never.self, "\(query)") { try database.analystRows(Self.asADashboardAsks(query)) }
        }
    }

    @Test("leads from a cell to its deliveries and to their events in order, and to no others")
    func behindACell() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let installs = [UUID(high: 0, low: 1), UUID(high: 0, low: 2)]
        let start = Event.sampleTime
        var events: [Event] = []
        for install in installs {
            // As they happened; they come the other way round.
            events.append(.sample(at: start, install: install, interaction: .received(Receipt(via: .serviceExtension))))
            events.append(.sample(at: start + 1_000_000, install: install))
            events.append(
                .sample(at: start + 2_000_000, install: install, interaction: .actionTapped(ActionTap(actionID: "YES")))
            )
            var other = Event.sample(at: start + 1_500_000, install: install)
            other.notification.id = "another"
            events.append(other)
        }
        _ = try database.appender().append([app.submission(events.reversed())])
        let category = try app.word(.category, "INFO_CATEGORY")
        for (place, install) in installs.enumerated() {
            // The second was not tapped as far as its fold says, so it is in another cell.
            try app.insert(
                "delivery", ["category": category, "flags": place == 0 ? 2 | 4 | 32 : 2 | 4, "furthest": -1],
                texts: [
                    "install_id": install.description, "notification_key": "req-1", "state": "\\x00",
                    "first_occurred_at": start.description, "first_device_at": start.description,
                    "last_occurred_at": (start + 2_000_000).description,
                    "last_device_at": (start + 2_000_000).description,
                ])
        }
        // The guide asks the demonstration of yesterday.
        let last = try #require(try AnalystsGuide.queries().last { $0.contains("CROSS JOIN LATERAL") })
            .replacing("'aurora-news'", with: "'shop'").replacing("'BREAKING_NEWS'", with: "'INFO_CATEGORY'")
            .replacing("current_date - 1", with: "date '2026-11-20'")
        let common = "(\(installs[0]),req-1,\"2026-11-20 09:30:"
        #expect(
            try database.analystRows(last) == [
                common + "10+00\",notification.received,service_extension,,4.2.0,1)",
                common + "11+00\",notification.expanded,,,4.2.0,1)",
                common + "12+00\",action.tapped,,YES,4.2.0,1)",
            ])
    }
}
