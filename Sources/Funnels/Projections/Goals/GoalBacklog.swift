internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// What the fold does when an app reaches its first goal in a shard: it reads from the log what came before, since
/// nothing of that was kept. A bulk pass, which knows all events of its shards, does the same at its end.
struct GoalBacklog {
    let lane: Lane
    /// The apps that begin to have goals, by shard.
    let apps: [Int16: Set<Int32>]
    /// The last batch that counts.
    let position: Int64
    /// What is counted, with the numbers of the tables.
    let targets: [CellChanges.Target]

    /// Returns the lane as it goes on, or as it is if no app is new.
    static func begin(
        _ apps: [Int16: Set<Int32>], in lane: Lane, upTo position: Int64, counting targets: [CellChanges.Target],
        on connection: inout Connection
    ) throws -> Lane {
        var all = lane.goals.apps
        var new: [Int16: Set<Int32>] = [:]
        for (shard, apps) in apps {
            let unknown = apps.subtracting(all[shard] ?? [])
            guard !unknown.isEmpty else { continue }
            new[shard] = unknown
            all[shard, default: []].formUnion(unknown)
        }
        guard !new.isEmpty else { return lane }
        let lane = lane.keepingGoals(of: all)
        try GoalBacklog(lane: lane, apps: new, position: position, targets: targets).fill(on: &connection)
        for shard in new.keys.sorted() {
            try connection.query(
                """
                UPDATE projection.progress SET goal_apps = \((all[shard] ?? []).sorted())
                WHERE generation = \(lane.generation) AND shard = \(shard)
                """)
        }
        return lane
    }

    /// Fills the tables, which have nothing of these apps.
    func fill(on connection: inout Connection) throws {
        // However long the log is, it is read once for each app and shard, so no deadline of a step fits.
        connection.deadline = .never
        try connection.execute(script: "SET LOCAL statement_timeout = 0")
        try readLog(on: &connection)
        guard let target = targets.first(where: { $0.projector.name == GoalFunnel.name }) else { return }
        try countBases(into: target.generation, on: &connection)
        try countGoals(into: target.generation, on: &connection)
    }

    /// Numbers for (shard, app): a condition on both that is no join.
    private var places: [Int64] {
        apps.flatMap { shard, apps in apps.map { Int64(shard) << 32 | Int64($0) } }.sorted()
    }

    private var table: GoalTable { lane.goals }

    private func readLog(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO projection.\(identifier: table.touches) (
                occurred_at, device_at, seq, event_id, install_id, generation, app, shard, kind, notification_key)
            SELECT e.occurred_at, e.device_at, coalesce(e.seq, 0), e.event_id, e.install_id, \(table.number), e.app, e.shard,
                CASE WHEN e.type = 1 THEN 2 ELSE 1 END, e.notification_key
            FROM log.opened_event AS e
            WHERE e.type IN (1, 3, 5, 8) AND e.shard::bigint << 32 | e.app = ANY (\(places)) AND e.batch <= \(position)
                AND (e.type <> 1 OR (e.via IS DISTINCT FROM 3 OR e.alert IS TRUE)
                    AND (e.via IS DISTINCT FROM 2 OR e.presentation IS NULL OR e.presentation & 7 <> 0))
                AND NOT EXISTS (
                    SELECT FROM projection.sealed_delivery AS s
                    WHERE s.notification_key = e.notification_key AND s.install_id = e.install_id AND s.app = e.app
                        AND s.shard = e.shard)
            """)
        try connection.query(
            """
            INSERT INTO projection.\(identifier: table.goals) (
                generation, app, shard, install_id, occurred_at, seq, event_id, device_at, goal, currency, value, key,
                notification_key, sealed)
            SELECT \(table.number), e.app, (e.codes >> 4 & 63)::smallint, e.install_id, coalesce(e.occurred_at, e.device_at),
                coalesce(e.seq::bigint, (e.rare ->> 'seq')::bigint, 0), e.event_id, e.device_at,
                coalesce((SELECT w.counts_as FROM log.word AS w WHERE w.id = e.word_1), e.word_1),
                coalesce(e.own, 0) & 32767, coalesce(e.amount_1::bigint, (e.rare ->> 'value')::bigint), e.key,
                e.notification_key, coalesce(s.rules, 0)
            FROM log.event AS e JOIN log.batch AS b ON b.id = e.batch_id
            LEFT JOIN projection.sealed_goal AS s
                ON s.event_id = e.event_id AND s.install_id = e.install_id AND s.app = e.app
                    AND s.first_device_at = e.device_at
            WHERE e.codes >> 10 & 31 = \(Int32(EventType.goalReached.rawValue))
                AND (e.codes >> 4 & 63)::bigint << 32 | e.app = ANY (\(places)) AND b.number <= \(position)
                AND coalesce(s.rules, 0) & 4 = 0
            """)
        try connection.query(
            """
            UPDATE projection.\(identifier: table.goals) AS g SET counted = false
            FROM (
                SELECT g.ctid AS place, row_number() OVER (
                    PARTITION BY g.app, g.install_id, (g.occurred_at AT TIME ZONE 'UTC')::date
                    ORDER BY g.occurred_at DESC, g.seq DESC, g.event_id DESC, g.device_at DESC) AS number
                FROM projection.\(identifier: table.goals) AS g
                WHERE g.shard::bigint << 32 | g.app = ANY (\(places))
            ) AS ranked
            WHERE g.ctid = ranked.place AND ranked.number > \(DeliveryGoals.mostADay)
            """)
        try connection.query(
            Statement(
                """
                UPDATE projection.\(Statement.quoted(table.goals)) AS goal
                SET response_key = now.response_key, response_at = now.response_at, receipt_key = now.receipt_key,
                    receipt_at = now.receipt_at
                FROM (
                    SELECT g.ctid, \(GoalTable.attributed) FROM projection.\(Statement.quoted(table.goals)) AS g
                    \(table.joiningLatest())
                    WHERE g.counted AND g.shard::bigint << 32 | g.app = ANY ($1)
                ) AS now (place, response_key, response_at, receipt_key, receipt_at)
                WHERE goal.ctid = now.place
                """, [.init(places)]))
    }

    private func countBases(into number: Int32, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO projection.\(identifier: "goal_bases_\(number)") (
                generation, app, day, category, campaign, variant, shard, received, responded)
            SELECT \(number), d.app, d.day, coalesce(d.category, 0), coalesce(d.campaign, 0), coalesce(d.variant, 0), d.shard,
                count(*) FILTER (WHERE \(declared: DeliveryFlags.received.any)),
                count(*) FILTER (WHERE \(declared: DeliveryFlags.response.any))
            FROM projection.\(identifier: lane.deliveries.name) AS d
            WHERE d.shard::bigint << 32 | d.app = ANY (\(places)) AND \(declared: DeliveryFlags.silent.none)
                AND \(declared: DeliveryFlags.response.union(.received).any)
            GROUP BY d.app, d.day, coalesce(d.category, 0), coalesce(d.campaign, 0), coalesce(d.variant, 0), d.shard
            """)
    }

    /// Counts the goals of deliveries that are stored already, so many at a time.
    private func countGoals(into number: Int32, on connection: inout Connection) throws {
        try connection.execute(
            script: """
                DECLARE credited NO SCROLL CURSOR FOR
                SELECT DISTINCT key.notification_key, g.install_id, g.app, g.shard
                FROM projection.\(Statement.quoted(table.goals)) AS g
                CROSS JOIN LATERAL (VALUES (g.response_key), (g.receipt_key)) AS key (notification_key)
                WHERE key.notification_key IS NOT NULL
                    AND g.shard::bigint << 32 | g.app IN (\(places.map(String.init).joined(separator: ", ")))
                """)
        while true {
            let rows = try connection.query("FETCH 8192 FROM credited")
            guard rows.count > 0 else { break }
            var tally = Tally(GoalFunnel.tables[0])
            try lane.deliveries.readAll(try Delivery.Name.all(rows), on: &connection) { stored, _ in
                for delivery in stored { GoalFunnel.countGoals(of: delivery.delivery, 1, into: &tally) }
            }
            if let upsert = tally.upsert(into: number) { try connection.query(upsert) }
        }
        try connection.execute(script: "CLOSE credited")
    }
}
