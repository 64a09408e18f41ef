internal import Accounts
internal import Console
internal import Postgres
internal import Registry
internal import Reports
internal import ServiceRuntime
internal import Simulation
internal import Values

/// One app of a demonstration: its world, its keys, and the times of its reports.
struct DemoApp {
    let slug: String
    let key: String
    /// The key with which its own server registers categories and reports sends.
    let serverKey: String
    let categoryDocument: String
    /// What it tries, as `PUT /v1/experiments` takes it; nil if it tries nothing.
    let experimentDocument: String?
    let nights: [Night]
    var world: World

    /// A day and the morning after it.
    struct Night {
        let day: CivilDate
        let start: Timestamp
        /// When the day's report is made. The time since the end of the day is the same for all reports.
        let morning: Timestamp
    }

    /// The last day of the demonstration: yesterday in the app's zone.
    var lastDay: CivilDate { nights[nights.count - 1].day }
    var start: Timestamp { nights[0].start }

    /// Creates the app in the database, with a key, and its users. It has lived for so many days. If it is calm, the
    /// day on which things go wrong never comes.
    init(
        _ profile: AppProfile, installs: Int, seed: UInt64, _ audience: Audience, now: Timestamp, days: Int32 = 15,
        isCalm: Bool = false, on connection: inout Connection
    ) throws {
        slug = profile.slug
        (key, serverKey) = try connection.inTransaction { connection in
            _ = try Apps.create(slug: profile.slug, timeZone: profile.home.name, on: &connection)
            return (
                try APIKeys.add(to: profile.slug, kind: .write, name: nil, on: &connection).secret,
                try APIKeys.add(to: profile.slug, kind: .server, name: "server", on: &connection).secret
            )
        }
        categoryDocument = profile.categoryDocument
        nights = try DemoApp.nights(days, in: profile.home.name, before: now, on: &connection)
        // Noon, so that no clock change moves it to another day.
        let noon = nights[nights.count - 1].start + (isCalm ? 400 * 24 : 0) * 3_600_000_000 + 12 * 3_600_000_000
        world = World(profile, seed: seed, installs: installs, from: nights[0].start, lastDay: noon, audience: audience)
        world.isExported = !isCalm
        guard !isCalm, let plan = profile.experiment, nights.count > plan.startsAfterDays,
            let share = ControlShare(percent: Double(plan.control))
        else {
            experimentDocument = nil
            return
        }
        // A salt of its own, so that the same seed draws the same arms.
        let rule = ArmRule(share, salt: "\(slug)-\(seed)")
        let start = nights[plan.startsAfterDays].start
        experimentDocument = DemoApp.document(of: plan, salt: rule.salt, from: start)
        world.run(plan, from: start) { rule.arm(of: $0) == .control }
    }

    private static func document(of plan: PlannedExperiment, salt: String, from start: Timestamp) -> String {
        let experiment: JSONObject = [
            "name": plan.name, "control": plan.control, "salt": salt, "starts": start.description,
            "campaigns": plan.campaigns, "goals": plan.goals,
        ]
        let document: JSONObject = ["experiments": [experiment]]
        return document.json
    }

    /// The days up to yesterday, of a demonstration a fortnight and a day. PostgreSQL computes when days begin.
    private static func nights(
        _ days: Int32, in zone: String, before now: Timestamp, on connection: inout Connection
    ) throws -> [Night] {
        let rows = try connection.query(
            """
            SELECT day, day::timestamp AT TIME ZONE \(zone), (day + 1 + here::time) AT TIME ZONE \(zone)
            FROM (SELECT \(now) AT TIME ZONE \(zone) AS here) AS present
            CROSS JOIN LATERAL (SELECT here::date - days AS day FROM generate_series(\(days), 1, -1) AS days) AS past
            """)
        var nights: [Night] = []
        for row in rows { nights.append(Night(day: try row.get(0), start: try row.get(1), morning: try row.get(2))) }
        return nights
    }
}
