package import Postgres
internal import Telemetry

/// Moves the deliveries of an app to the days that its present time zone gives them: after the app's zone was changed, or
/// an update of the time-zone data moved a midnight. Day by day in small transactions, each of which moves deliveries as
/// a whole, so every law holds meanwhile; a change that was cut short is taken up again by whoever comes first.
package struct ZoneChange: Sendable {
    package let app: Int32
    package let slug: String
    package let timeZone: String

    /// Deliveries of one transaction.
    private static let mostDeliveries: Int32 = 5_000

    /// Remembers, before a zone is changed, in which one the days stand, and that from now on they stand in no zone's rules
    /// for sure. Part of the transaction that changes it.
    package static func remember(_ slug: String, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO projection.zone (app, time_zone, rules)
            SELECT id, time_zone, '' FROM log.app WHERE slug = \(slug)
            ON CONFLICT (app) DO UPDATE SET rules = ''
            """)
    }

    /// The changes that have yet to be made, by the names of the zones alone or, which costs more, by their rules.
    package static func pending(
        byRules: Bool, on connection: inout Connection
    ) throws(PostgresError) -> [ZoneChange] {
        if byRules {
            // An app whose zone was never changed stands in the one that it has.
            try connection.query(
                """
                INSERT INTO projection.zone (app, time_zone, rules)
                SELECT id, time_zone, projection.zone_rules(time_zone) FROM log.app AS a
                WHERE NOT EXISTS (SELECT FROM projection.zone AS z WHERE z.app = a.id)
                ON CONFLICT (app) DO NOTHING
                """)
        }
        let rows = try connection.query(
            """
            SELECT a.id, a.slug, a.time_zone FROM projection.zone AS z JOIN log.app AS a ON a.id = z.app
            WHERE z.rules = '' OR z.time_zone <> a.time_zone
                OR (\(byRules) AND z.rules <> projection.zone_rules(a.time_zone))
            ORDER BY a.slug
            """)
        var changes: [ZoneChange] = []
        for row in rows {
            changes.append(ZoneChange(app: try row.get(0), slug: try row.get(1), timeZone: try row.get(2)))
        }
        return changes
    }

    /// Makes the change in the live line; says how many deliveries moved to another day.
    package func make(on connection: inout Connection) throws -> Int {
        // Steps that began under the old zone are over when their shards could be locked.
        _ = try transaction(on: &connection) { _, _ in 0 }
        var moved = 0
        for day in try days(on: &connection) {
            while true {
                let count = try transaction(on: &connection) { lane, connection in
                    try move(day, in: lane, on: &connection)
                }
                moved += count
                if count < Int(Self.mostDeliveries) { break }
            }
        }
        try connection.query(
            """
            UPDATE projection.zone SET time_zone = \(timeZone), rules = projection.zone_rules(\(timeZone))
            WHERE app = \(app) AND EXISTS (SELECT FROM log.app WHERE id = \(app) AND time_zone = \(timeZone))
            """)
        return moved
    }

    /// All days on which the live line has deliveries of the app, each found by one look at the index.
    private func days(on connection: inout Connection) throws(PostgresError) -> [CivilDate] {
        guard let lane = try Lane.lock([0], of: .live, on: &connection) else { return [] }
        let rows = try connection.query(
            """
            WITH RECURSIVE present AS (
                (SELECT day FROM projection.\(identifier: DeliveryTable.name(lane.deliveries))
                    WHERE app = \(app) ORDER BY day LIMIT 1)
                UNION ALL
                SELECT (SELECT d.day FROM projection.\(identifier: DeliveryTable.name(lane.deliveries)) AS d
                    WHERE d.app = \(app) AND d.day > present.day ORDER BY d.day LIMIT 1)
                FROM present WHERE present.day IS NOT NULL
            )
            SELECT day FROM present WHERE day IS NOT NULL
            """)
        var days: [CivilDate] = []
        for row in rows { days.append(try row.get(0)) }
        return days
    }

    private func move(_ day: CivilDate, in lane: Lane, on connection: inout Connection) throws -> Int {
        let rows = try connection.query(
            """
            SELECT d.notification_key, d.install_id, d.app, d.shard
            FROM projection.\(identifier: DeliveryTable.name(lane.deliveries)) AS d
            WHERE d.app = \(app) AND d.day = \(day) AND (d.first_occurred_at AT TIME ZONE \(timeZone))::date <> \(day)
            LIMIT \(Self.mostDeliveries)
            """)
        let names = try Delivery.Name.all(rows)
        let changes = Changes(redated: try DeliveryTable.read(names, from: lane.deliveries, on: &connection))
        try DeliveryTable.update(changes.updated, in: lane.deliveries, on: &connection)
        try Step.write(changes, of: lane.running, on: &connection)
        return changes.updated.count
    }

    /// With all shards of the live line locked, unless the zone is another by now.
    private func transaction(
        on connection: inout Connection, _ body: (Lane, inout Connection) throws -> Int
    ) throws(StepError) -> Int {
        try connection.atomically { connection in
            // What is being built has days of the old zone.
            try LineBuilder.retireUnfinished(on: &connection)
            guard let lane = try Lane.lock(Array(0..<Shard.count), of: .live, on: &connection),
                try isWanted(on: &connection)
            else { return 0 }
            return try body(lane, &connection)
        }
    }

    /// Whether the app still has this zone.
    private func isWanted(on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query("SELECT EXISTS (SELECT FROM log.app WHERE id = \(app) AND time_zone = \(timeZone))")[0]
            .get(0)
    }
}
