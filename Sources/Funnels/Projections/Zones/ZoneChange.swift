package import Postgres
internal import ServiceRuntime
internal import Values

/// Moves the deliveries and the installs of an app to their days in the app's present time zone, after somebody changed
/// the zone or an update of the time-zone data moved a midnight. It uses small transactions that move whole deliveries,
/// so every law holds meanwhile. The next run of any process continues an interrupted change.
package struct ZoneChange: Sendable {
    package let app: Int32
    package let slug: String
    package let timeZone: String
    /// The zone in which its days were before.
    package let former: String
    /// The number of this change among the app's changes.
    let number: Int32

    /// The most deliveries that one transaction moves. All steps wait for it.
    package var mostDeliveries: Int32 = 5_000

    /// Call this in the transaction that changes a zone, before the change. It records in which zone the days are, and
    /// that they will not all be in one zone.
    package static func remember(_ slug: String, on connection: inout Connection) throws(PostgresError) {
        // An unfinished generation has days of the old zone; one that begins after this has none.
        try GenerationBuilder.retireUnfinished(on: &connection)
        try connection.query(
            """
            INSERT INTO projection.zone AS z (app, time_zone, rules, changes)
            SELECT id, time_zone, projection.zone_rules(time_zone), 1 FROM log.app WHERE slug = \(slug)
            ON CONFLICT (app) DO UPDATE SET changes = z.changes + 1
            """)
    }

    /// How to find the changes still to make.
    package enum Search: Sendable {
        /// By what commands recorded.
        case recorded
        /// By the rules of the zones as well, which costs more. It writes nothing.
        case found
        /// Like `found`, and stores the present rules of each zone that has none stored yet.
        case noted
    }

    /// The changes still to make.
    package static func pending(
        _ search: Search, on connection: inout Connection
    ) throws(PostgresError) -> [ZoneChange] {
        let rules = search != .recorded ? try rulesOfZones(on: &connection) : (zones: [], rules: [])
        if search == .noted {
            // The days of an app are in its present zone if that was never changed.
            try connection.query(
                """
                INSERT INTO projection.zone (app, time_zone, rules)
                SELECT a.id, a.time_zone, now.rules
                FROM log.app AS a JOIN unnest(\(rules.zones), \(rules.rules)) AS now (zone, rules) ON now.zone = a.time_zone
                WHERE NOT EXISTS (SELECT FROM projection.zone AS z WHERE z.app = a.id)
                ON CONFLICT (app) DO NOTHING
                """)
        }
        let rows = try connection.query(
            """
            SELECT a.id, a.slug, a.time_zone, z.time_zone AS former, z.changes
            FROM projection.zone AS z JOIN log.app AS a ON a.id = z.app
            LEFT JOIN unnest(\(rules.zones), \(rules.rules)) AS now (zone, rules) ON now.zone = a.time_zone
            WHERE z.time_zone <> a.time_zone OR z.made <> z.changes OR z.rules <> now.rules
            ORDER BY a.slug
            """)
        var changes: [ZoneChange] = []
        for row in rows {
            changes.append(
                ZoneChange(
                    app: try row.get("id"), slug: try row.get("slug"), timeZone: try row.get("time_zone"),
                    former: try row.get("former"), number: try row.get("changes")))
        }
        return changes
    }

    /// The present rules of all zones in use.
    private static func rulesOfZones(
        on connection: inout Connection
    ) throws(PostgresError) -> (zones: [String], rules: [String]) {
        let rows = try connection.query(
            """
            SELECT zone, projection.zone_rules(zone) AS rules FROM (SELECT DISTINCT time_zone AS zone FROM log.app) AS used
            """)
        var (zones, rules): ([String], [String]) = ([], [])
        for row in rows {
            zones.append(try row.get("zone"))
            rules.append(try row.get("rules"))
        }
        return (zones, rules)
    }

    /// Makes the change in the live generation, and returns how many deliveries moved to another day. Each delivery
    /// moves to its day in the zone of that moment. The change counts as made only if nobody changed the zone again
    /// meanwhile.
    package func make(on connection: inout Connection) throws -> Int {
        // Once this has locked their shards, the steps that began under the old zone have ended. It also gives up an
        // unfinished generation, which began under old rules.
        _ = try transaction(before: GenerationBuilder.retireUnfinished, on: &connection) { _, _ in 0 }
        CrashPoint.pass("steps of the old zone ended")
        var moved = 0
        try moveInstalls(on: &connection)
        CrashPoint.pass("installs moved")
        if let live = try DeliveryTable.live(on: &connection) {
            try find(in: DeliveryTable.name(live), on: &connection)
            defer { try? connection.execute(script: "CLOSE misplaced") }
            while true {
                let fetch: String = "FETCH \(mostDeliveries) FROM misplaced"
                let rows = try connection.query(Statement(fetch))
                guard rows.count > 0 else { break }
                let names = try Delivery.Name.all(rows)
                moved += try transaction(on: &connection) { lane, connection in
                    try move(names, in: lane, on: &connection)
                }
                CrashPoint.pass("deliveries moved")
            }
        }
        try connection.query(
            """
            UPDATE projection.zone AS z
            SET time_zone = \(timeZone), rules = projection.zone_rules(\(timeZone)), made = \(number)
            WHERE z.app = \(app) AND z.changes = \(number)
                AND EXISTS (SELECT FROM log.app WHERE id = \(app) AND time_zone = \(timeZone))
            """)
        return moved
    }

    /// Opens a cursor with the names of all deliveries on a wrong day. The server keeps it beyond this transaction. All
    /// deliveries are checked at once.
    private func find(in table: String, on connection: inout Connection) throws(PostgresError) {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on;
                    DECLARE misplaced NO SCROLL CURSOR WITH HOLD FOR
                    SELECT d.notification_key, d.install_id, d.app, d.shard
                    FROM projection.\(Statement.quoted(table)) AS d JOIN log.app AS a ON a.id = d.app
                    WHERE d.app = \(app) AND d.day <> (d.first_occurred_at AT TIME ZONE a.time_zone)::date
                    """)
        }
    }

    /// Divides the days of installs that no longer hold what happened on them.
    private func moveInstalls(on connection: inout Connection) throws {
        guard let live = try DeliveryTable.live(on: &connection) else { return }
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on;
                    DECLARE misplaced_days NO SCROLL CURSOR WITH HOLD FOR
                    SELECT d.app, d.shard, d.install_id, d.day
                    FROM projection.\(Statement.quoted(InstallDayTable.name(live))) AS d JOIN log.app AS a ON a.id = d.app
                    WHERE d.app = \(app) AND ((d.first_at AT TIME ZONE a.time_zone)::date <> d.day
                        OR (coalesce(d.last_at, d.first_at) AT TIME ZONE a.time_zone)::date <> d.day)
                    """)
        }
        defer { try? connection.execute(script: "CLOSE misplaced_days") }
        while true {
            let fetch: String = "FETCH \(mostDeliveries) FROM misplaced_days"
            let rows = try connection.query(Statement(fetch))
            guard rows.count > 0 else { return }
            let names = try InstallDay.Name.all(rows)
            _ = try transaction(on: &connection) { lane, connection in
                try move(names, in: lane, on: &connection)
                return names.count
            }
            CrashPoint.pass("days of installs moved")
        }
    }

    private func move(_ names: [InstallDay.Name], in lane: Lane, on connection: inout Connection) throws {
        let days = try lane.installDays.stored(names, on: &connection)
        var cells = CellChanges(of: lane.running, revising: DayRevisions(in: lane))
        try lane.installDays.delete(days.map(\.name), on: &connection)
        try cells.count(InstallChanges(removed: days), on: &connection)
        try lane.installDays.add(try redated(days, in: lane.installDays, on: &connection), on: &connection) {
            changes, connection in
            try cells.count(changes, on: &connection)
        }
        try cells.write(on: &connection)
    }

    /// What these days hold, by the days of the present time zone.
    private func redated(
        _ days: [InstallDay], in table: InstallDayTable, on connection: inout Connection
    ) throws -> [InstallChanges.Asked] {
        let sightings = days.flatMap { day in day.state.sightings.map { (day, $0) } }
        let present = try connection.query(
            """
            SELECT (asked.at AT TIME ZONE a.time_zone)::date
            FROM unnest(\(sightings.map(\.1.moment.occurredAt))) WITH ORDINALITY AS asked (at, place)
            JOIN log.app AS a ON a.id = \(app) ORDER BY asked.place
            """
        ).values(as: CivilDate.self)
        var parts: [InstallDay.Name: [InstallDay.Name: [Sighting]]] = [:]
        for ((day, sighting), date) in zip(sightings, present) {
            let name = day.name.on(date)
            parts[day.name, default: [:]][name, default: []].append(sighting)
        }
        var news: [InstallDay.Name: InstallDayState] = [:]
        for day in days {
            for (name, sightings) in parts[day.name] ?? [:] {
                let state = InstallDayState(part: sightings, of: day.state)
                if news[name]?.merge(state) == nil { news[name] = state }
            }
        }
        return news.map { InstallChanges.Asked(key: table.key(of: $0.key), name: $0.key, news: $0.value) }
            .sorted {
                (InstallDayTable.installBits(of: $0.key), $0.key) < (InstallDayTable.installBits(of: $1.key), $1.key)
            }
    }

    private func move(_ names: [Delivery.Name], in lane: Lane, on connection: inout Connection) throws -> Int {
        var cells = CellChanges(of: lane.running, revising: DayRevisions(in: lane))
        var moved = 0
        try lane.deliveries.readAll(names, on: &connection) { stored, connection in
            let changes = Changes(redated: stored)
            try lane.deliveries.write(changes, on: &connection)
            try cells.count(changes, on: &connection)
            moved += changes.updated.count
        }
        try cells.write(on: &connection)
        CrashPoint.pass("deliveries moving")
        return moved
    }

    /// Runs `body` with all shards of the live generation locked.
    private func transaction(
        before first: (inout Connection) throws -> Void = GenerationBuilder.holdGenerations,
        on connection: inout Connection,
        _ body: (Lane, inout Connection) throws -> Int
    ) throws(StepError) -> Int {
        try connection.atomically { connection in
            try first(&connection)
            guard let lane = try Lane.lock(nil, of: .live, on: &connection) else { return 0 }
            return try body(lane, &connection)
        }
    }
}
