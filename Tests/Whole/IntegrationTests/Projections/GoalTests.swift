import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Goals")
struct GoalTests {
    private let database: TestDatabase
    private let app: TestApp
    private let control: ProjectionControl
    /// Noon in UTC, on 2026-11-20.
    private let noon = TestDatabase.noon(2026, 11, 20)

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp("shop", timeZone: "UTC")
        control = ProjectionControl(url: try database.url(), log: .silent)
    }

    private static let minute: Int64 = 60_000_000

    private func event(
        _ interaction: Interaction, minutes: Double, of notification: String? = nil, install: Int = 1
    ) -> Event {
        let at = noon + Int64(minutes * Double(Self.minute))
        var event = Event.sample(at: at, install: UUID(high: 7, low: UInt64(install)), interaction: interaction)
        event.id = .random()
        event.notification = Notification()
        event.notification.id = notification
        if interaction.type != .goalReached {
            event.notification.category = "NEWS"
            event.notification.campaign = notification.map { $0.hasPrefix("a") ? "spring" : "summer" }
        }
        return event
    }

    private func goal(
        _ name: String = "purchase", value: Int64? = 9_990_000, currency: String? = "EUR", minutes: Double,
        of notification: String? = nil, install: Int = 1
    ) -> Event {
        event(
            .goalReached(Goal(name, value: value, currency: currency)), minutes: minutes, of: notification,
            install: install)
    }

    private let receipt = Interaction.received(Receipt(via: .serviceExtension))
    private let opening = Interaction.opened(launch: .cold)

    private func append(_ events: [Event]) throws {
        _ = try database.appender().append([app.submission(events)])
        #expect(try control.catchUp().stopped.isEmpty)
        try expectProved()
    }

    private func expectProved() throws {
        let report = try database.lending(nil) { connection in try Verifier().verify(on: &connection) }
        #expect(report.isProved, "\(report)")
    }

    private func rebuild(_ names: [String] = []) throws {
        guard case .swapped = try Rebuild(control, names: names).run(progress: { _ in }) else {
            Issue.record("the rebuild did not end")
            return
        }
        try expectProved()
    }

    private func funnel(_ columns: String = "converted_1h, goals_1h, value_1h, converted_7d, goals_7d, value_7d")
        throws -> [String]
    {
        try database.analystRows(
            """
            SELECT campaign, goal, currency, rule, received, responded, \(columns) FROM goal_funnel
            ORDER BY campaign, goal, currency, rule DESC
            """)
    }

    @Test("count for the latest response and the latest receipt before them, whatever comes late")
    func latest() throws {
        defer { database.drop() }
        // Nothing is kept of an app without goals, until its first one.
        try append([
            event(receipt, minutes: 0, of: "a1"), event(opening, minutes: 10, of: "a1"),
            event(receipt, minutes: 20, of: "b1"), event(receipt, minutes: 0, of: "a1", install: 2),
            event(opening, minutes: 5, of: "a1", install: 3),
        ])
        #expect(try database.value("SELECT count(*) FROM projection.goal_touch", as: Int64.self) == 0)
        #expect(try database.analystRows("SELECT * FROM goals") == [])
        try append([goal(minutes: 70), goal("sign_up", value: nil, currency: nil, minutes: 80.5)])
        let first = [
            "(spring,purchase,EUR,response,2,2,1,1,9.990000,1,1,9.990000)",
            "(spring,sign_up,\"\",response,2,2,0,0,0.000000,1,1,0.000000)",
            "(summer,purchase,EUR,receipt,1,0,1,1,9.990000,1,1,9.990000)",
            "(summer,sign_up,\"\",receipt,1,0,0,0,0.000000,1,1,0.000000)",
        ]
        #expect(try funnel() == first)
        // What arrives late and is dated before the goal takes it over; a silent receipt, one that nobody saw, and one
        // after the goal do not.
        try append([
            event(opening, minutes: 65, of: "b1"),
            event(.received(Receipt(via: .background, fetchResult: .newData)), minutes: 66, of: "a2"),
            event(.received(Receipt(via: .foreground, presentation: [])), minutes: 67, of: "a3"),
            event(receipt, minutes: 71, of: "a4"),
        ])
        #expect(
            try funnel("rate_1h, rate_7d") == [
                "(spring,sign_up,\"\",receipt,4,2,0.2500,0.2500)",
                "(summer,purchase,EUR,response,1,1,1.0000,1.0000)",
                "(summer,purchase,EUR,receipt,1,1,1.0000,1.0000)",
                "(summer,sign_up,\"\",response,1,1,1.0000,1.0000)",
            ])
        #expect(
            try database.analystRows(
                """
                SELECT goal, value, currency, explicit, response, receipt, counted FROM goals ORDER BY occurred_at
                """) == ["(purchase,9.990000,EUR,,b1,b1,t)", "(sign_up,,,,b1,a4,t)"])
        #expect(
            try database.analystRows(
                "SELECT within_minutes, converted, goals, value FROM goal_times WHERE rule = 'receipt' AND goal = 'purchase'"
            ) == [60, 180, 360, 720, 1_440, 2_880, 4_320, 10_080].map { "(\($0),1,1,9.990000)" })
        let before = try funnel()
        try rebuild()
        #expect(try funnel() == before)
        try rebuild(["goal_funnel"])
        #expect(try funnel() == before)
    }

    @Test("count for the notification that they name by both rules, from its first receipt and response on")
    func explicit() throws {
        defer { database.drop() }
        // The goal comes before its notification has an event, and one of another never has any.
        try append([goal(minutes: 30, of: "a1"), goal(minutes: 31, of: "never")])
        #expect(try funnel() == [])
        try append([event(opening, minutes: 40, of: "b1"), event(receipt, minutes: -40, of: "a1")])
        #expect(
            try funnel() == [
                "(spring,purchase,EUR,response,1,0,1,1,9.990000,1,1,9.990000)",
                "(spring,purchase,EUR,receipt,1,0,0,0,0.000000,1,1,9.990000)",
            ])
        // By response it counts from the first one on, once there is one before it.
        try append([event(opening, minutes: -35, of: "a1")])
        #expect(
            try funnel() == [
                "(spring,purchase,EUR,response,1,1,0,0,0.000000,1,1,9.990000)",
                "(spring,purchase,EUR,receipt,1,1,0,0,0.000000,1,1,9.990000)",
            ])
        // Beyond seven days it is in no window, and silent notifications are in no funnel.
        try append([
            goal("late", minutes: 7 * 1_440 + 1, of: "a1"), goal("quiet", minutes: 5, of: "a5"),
            event(.received(Receipt(via: .background)), minutes: 0, of: "a5"),
        ])
        #expect(try funnel("goals_7d").count == 2)
        try rebuild()
        #expect(try funnel("goals_7d").count == 2)
    }

    @Test("a phone in a loop counts the last hundred of a day, and the last thousand of a delivery")
    func bounds() throws {
        defer { database.drop() }
        try append([event(receipt, minutes: 0, of: "a1")] + (0..<103).map { goal(minutes: 1 + Double($0) / 10) })
        #expect(try funnel("goals_7d, value_7d") == ["(spring,purchase,EUR,receipt,1,0,100,999.000000)"])
        #expect(try database.value("SELECT count(*) FROM analytics.goals WHERE NOT counted", as: Int64.self) == 3)
        // A later one takes the place of the earliest, and one before all others has none.
        try append([goal("later", minutes: 20), goal("earlier", minutes: 0.5)])
        #expect(
            try funnel("goals_7d") == [
                "(spring,later,EUR,receipt,1,0,1)", "(spring,purchase,EUR,receipt,1,0,99)",
            ])
        try append(
            (1...11).flatMap { day in
                (0..<100).map { goal("named", minutes: Double(day - 12) * 1_440 + Double($0) / 10, of: "a1") }
            })
        #expect(
            try database.value(
                "SELECT sum(goals_7d)::bigint FROM analytics.goal_funnel WHERE rule = 'receipt'", as: Int64.self)
                == 1_000)
        let before = try funnel()
        try rebuild()
        #expect(try funnel() == before)
    }

    @Test("go with an erased install, and move with their deliveries to the days of another zone")
    func removal() throws {
        defer { database.drop() }
        try append([
            event(receipt, minutes: 0, of: "a1"), goal(minutes: 10), event(receipt, minutes: 700, of: "b1", install: 2),
            goal(minutes: 800, install: 2), goal(minutes: 820, install: 2),
        ])
        let day = "SELECT day, campaign, received, goals_1h, goals_24h FROM goal_funnel ORDER BY day"
        #expect(
            try database.analystRows(day) == ["(2026-11-20,spring,1,1,1)", "(2026-11-20,summer,1,0,2)"])
        var connection = try database.session(nil)
        try connection.transaction { connection throws(PostgresError) in
            try ZoneChange.remember("shop", on: &connection)
            try connection.query("UPDATE log.app SET time_zone = 'Asia/Bangkok' WHERE slug = 'shop'")
        }
        for change in try ZoneChange.pending(.recorded, on: &connection) { _ = try change.make(on: &connection) }
        #expect(
            try database.analystRows(day) == ["(2026-11-20,spring,1,1,1)", "(2026-11-21,summer,1,0,2)"])
        try expectProved()
        _ = try ErasureRun(control).run(app: app.id, install: UUID(high: 7, low: 2))
        #expect(try database.analystRows(day) == ["(2026-11-20,spring,1,1,1)"])
        #expect(try database.value("SELECT count(*) FROM analytics.goals", as: Int64.self) == 1)
        try expectProved()
        try rebuild()
        #expect(try database.analystRows(day) == ["(2026-11-20,spring,1,1,1)"])
    }
}
