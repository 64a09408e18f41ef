internal import Postgres
internal import Values

/// The tables of goals, and of what they may have come from, of one generation. They belong to the fold, as the
/// deliveries do. Rows are written by whoever has locked their shard.
package struct GoalTable {
    package static let parents = ["goal_touch", "goal"]

    /// The number of the tables and of their generation.
    let number: Int32
    /// The apps that have reached a goal, by shard. Of all others nothing is kept.
    var apps: [Int16: Set<Int32>] = [:]

    var goals: String { "goal_\(number)" }
    var touches: String { "goal_touch_\(number)" }

    func keeps(_ app: Int32, in shard: Int16) -> Bool { apps[shard]?.contains(app) ?? false }

    func keeps(_ name: Delivery.Name) -> Bool { !apps.isEmpty && keeps(name.app, in: name.shard) }

    /// Deliveries as they are sealed. Shards in which an app has reached no goal count nothing for its rates, since
    /// their deliveries can be counted at any time; sealed ones cannot.
    func withBases(_ deliveries: [Delivery]) -> [Delivery] {
        guard !apps.isEmpty else { return deliveries }
        let anywhere = apps.values.reduce(into: Set<Int32>()) { $0.formUnion($1) }
        return deliveries.map { delivery in
            delivery.goals == nil && anywhere.contains(delivery.name.app) ? delivery.with(DeliveryGoals()) : delivery
        }
    }

    /// Event order backwards, of a row `g` or `t`.
    private static let latestGoal: StaticString = "g.occurred_at DESC, g.seq DESC, g.event_id DESC, g.device_at DESC"
    private static let latestTouch: StaticString = "t.occurred_at DESC, t.seq DESC, t.event_id DESC, t.device_at DESC"

    /// Joins to a goal `g` the response `r` and the receipt `c` that it counts for.
    func joiningLatest() -> String {
        [(kind: DeliveryGoals.Rule.response, row: "r"), (.receipt, "c")].map { kind, row in
            """
            LEFT JOIN LATERAL (
                SELECT t.notification_key, t.occurred_at FROM projection.\(Statement.quoted(touches)) AS t
                WHERE t.app = g.app AND t.install_id = g.install_id AND t.kind = \(kind.rawValue)
                    AND (t.occurred_at, t.seq, t.event_id, t.device_at)
                        <= (g.occurred_at, g.seq, g.event_id, g.device_at)
                    AND t.occurred_at >= g.occurred_at - interval '168 hours'
                ORDER BY \(Self.latestTouch) LIMIT 1
            ) AS \(row) ON g.notification_key IS NULL AND g.sealed & \(kind.rawValue) = 0
            """
        }
        .joined(separator: "\n")
    }

    /// What a goal `g` counts for now: the keys and times by response and by receipt. A goal that names its
    /// notification counts for that by both rules.
    static let attributed: StaticString = """
        CASE WHEN g.sealed & 1 = 0 THEN coalesce(g.notification_key, r.notification_key) END AS new_response,
        r.occurred_at AS new_response_at,
        CASE WHEN g.sealed & 2 = 0 THEN coalesce(g.notification_key, c.notification_key) END AS new_receipt,
        c.occurred_at AS new_receipt_at
        """

    /// What counted before.
    static let stored: StaticString = """
        g.response_key AS old_response, g.response_at AS old_response_at, g.receipt_key AS old_receipt,
        g.receipt_at AS old_receipt_at
        """

    // MARK: Deliveries

    /// The goals that count for these deliveries, of those that have any.
    func credits(
        of names: [Delivery.Name], on connection: inout Connection
    ) throws(PostgresError) -> [Delivery.Name: [DeliveryGoals.Credit]] {
        guard !apps.isEmpty else { return [:] }
        let names = names.filter(keeps)
        guard !names.isEmpty else { return [:] }
        let rows = try connection.queryPrepared(
            """
            SELECT asked.place::integer - 1 AS place, credit.rule, credit.goal, credit.currency, credit.value, credit.occurred_at, credit.since
            FROM unnest(\(names.map(\.app)), \(names.map(\.install)), \(names.map(\.notificationKey)), \(names.map(\.shard)))
                WITH ORDINALITY AS asked (app, install_id, notification_key, shard, place)
            CROSS JOIN LATERAL (
                (
                    SELECT 1::smallint AS rule, g.goal, g.currency, g.value, g.occurred_at, g.response_at AS since
                    FROM projection.\(identifier: goals) AS g
                    WHERE g.app = asked.app AND g.install_id = asked.install_id AND g.response_key = asked.notification_key
                        AND g.shard = asked.shard
                    ORDER BY \(sql: Self.latestGoal) LIMIT \(DeliveryGoals.most)
                ) UNION ALL (
                    SELECT 2::smallint, g.goal, g.currency, g.value, g.occurred_at, g.receipt_at
                    FROM projection.\(identifier: goals) AS g
                    WHERE g.app = asked.app AND g.install_id = asked.install_id AND g.receipt_key = asked.notification_key
                        AND g.shard = asked.shard
                    ORDER BY \(sql: Self.latestGoal) LIMIT \(DeliveryGoals.most)
                )
            ) AS credit
            """)
        let (place, goal): (Rows.Column<Int32>, Rows.Column<Int32>) = (
            try rows.column("place"), try rows.column("goal")
        )
        let (rule, currency): (Rows.Column<Int16>, Rows.Column<Int16>) = (
            try rows.column("rule"), try rows.column("currency")
        )
        let value = try rows.column("value", as: Int64.self)
        let reachedAt = try rows.column("occurred_at", as: Timestamp.self)
        let since = try rows.column("since", as: Timestamp.self)
        var credits: [Delivery.Name: [DeliveryGoals.Credit]] = [:]
        for row in rows.indices {
            guard let rule = DeliveryGoals.Rule(rawValue: try rule.get(row)) else { continue }
            credits[names[Int(try place.get(row))], default: []].append(
                DeliveryGoals.Credit(
                    rule: rule, goal: try goal.get(row), currency: try currency.get(row),
                    value: try value.optional(row) ?? 0, reachedAt: try reachedAt.get(row),
                    since: try since.optional(row)))
        }
        return credits
    }

    // MARK: Events

    func insert(_ touches: [GoalTouch], on connection: inout Connection) throws(PostgresError) {
        guard !touches.isEmpty else { return }
        var rows = CopyRows(columns: 10)
        for touch in touches {
            rows.beginRow()
            rows.append(touch.moment.occurredAt)
            rows.append(touch.moment.deviceAt)
            rows.append(touch.moment.seq)
            rows.append(touch.moment.id)
            rows.append(touch.delivery.install)
            rows.append(number)
            rows.append(touch.delivery.app)
            rows.append(touch.delivery.shard)
            rows.append(touch.rule.rawValue)
            rows.append(touch.delivery.notificationKey)
        }
        try connection.copyIn(
            """
            COPY projection.\(Statement.quoted(self.touches)) (
                occurred_at, device_at, seq, event_id, install_id, generation, app, shard, kind, notification_key
            ) FROM STDIN (FORMAT binary)
            """, rows)
    }

    /// Inserts goals, with what their events in the log say. Those that are sealed altogether are no goals any more.
    func insert(_ goals: [ReachedGoal], on connection: inout Connection) throws(PostgresError) {
        guard !goals.isEmpty else { return }
        let (installs, moments) = (goals.map(\.install), goals.map(\.moment))
        try connection.queryPrepared(
            """
            INSERT INTO projection.\(identifier: self.goals) (
                generation, app, shard, install_id, occurred_at, seq, event_id, device_at, goal, currency, value, key,
                notification_key, sealed)
            SELECT \(number), candidate.app, candidate.shard, candidate.install_id, candidate.occurred_at, candidate.seq,
                candidate.event_id, candidate.device_at, candidate.goal, coalesce(e.own, 0) & 32767,
                coalesce(e.amount_1::bigint, (e.rare ->> 'value')::bigint), e.key, e.notification_key,
                coalesce(s.rules, 0)
            FROM (
                SELECT *, uuid_hash_extended(event_id, uuid_hash_extended(install_id, app::bigint)) & -16 AS hash
                FROM unnest(
                    \(goals.map(\.app)), \(goals.map(\.shard)), \(installs), \(moments.map(\.occurredAt)),
                    \(moments.map(\.seq)), \(moments.map(\.id)), \(moments.map(\.deviceAt)), \(goals.map(\.goal)))
                    AS key (app, shard, install_id, occurred_at, seq, event_id, device_at, goal)
            ) AS candidate
            CROSS JOIN LATERAL (
                SELECT e.own, e.amount_1, e.rare, e.key, e.notification_key FROM log.event AS e
                WHERE e.device_at = candidate.device_at
                    AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                        | (e.codes & 15)::bigint) BETWEEN candidate.hash AND candidate.hash | 15
                    AND e.event_id = candidate.event_id AND e.install_id = candidate.install_id
                    AND e.app = candidate.app
                LIMIT 1
            ) AS e
            LEFT JOIN LATERAL (
                SELECT s.rules FROM projection.sealed_goal AS s
                WHERE s.event_id = candidate.event_id AND s.install_id = candidate.install_id AND s.app = candidate.app
                    AND s.first_device_at = candidate.device_at
                LIMIT 1
            ) AS s ON true
            WHERE coalesce(s.rules, 0) & 4 = 0
            """)
    }

    // MARK: What goals count for

    /// A change of what a goal counts for.
    struct Change {
        /// Where its row is. Nobody else writes it in this transaction.
        let place: String
        let before: Attribution
        let after: Attribution
        let isCounted: Bool
        let app: Int32
        let shard: Int16
        let install: UUID

        /// The deliveries that gain or lose something by it.
        var deliveries: [Delivery.Name] {
            [before.response?.key, before.receipt?.key, after.response?.key, after.receipt?.key].compactMap { key in
                key.map { Delivery.Name(app: app, shard: shard, install: install, notificationKey: $0) }
            }
        }
    }

    /// What a goal counts for by each rule. The time is nil if the goal names its notification.
    struct Attribution {
        var response: (key: String, at: Timestamp?)?
        var receipt: (key: String, at: Timestamp?)?

        init() {}

        /// Reads what is `stored` ("old"), or as `attributed` ("new").
        init(_ age: String, _ row: Rows.Row) throws(PostgresError) {
            if let key: String = try row.optional("\(age)_response") {
                response = (key, try row.optional("\(age)_response_at"))
            }
            if let key: String = try row.optional("\(age)_receipt") {
                receipt = (key, try row.optional("\(age)_receipt_at"))
            }
        }
    }

    /// A time of an install, with both ends.
    struct Span {
        let app: Int32
        let shard: Int16
        let install: UUID
        let first: Timestamp
        var last: Timestamp
    }

    /// The goals of these times that now count for something else.
    func changes(in spans: [Span], on connection: inout Connection) throws(PostgresError) -> [Change] {
        guard !spans.isEmpty else { return [] }
        let parameters: [Statement.Parameter] = [
            .init(spans.map(\.app)), .init(spans.map(\.shard)), .init(spans.map(\.install)), .init(spans.map(\.first)),
            .init(spans.map(\.last)),
        ]
        let rows = try connection.queryPrepared(
            Statement(
                """
                SELECT * FROM (
                    SELECT g.place::text, g.app, g.shard, g.install_id, \(Self.stored), \(Self.attributed)
                    FROM unnest($1, $2, $3, $4, $5) AS span (app, shard, install_id, first, last)
                    CROSS JOIN LATERAL (
                        SELECT g.ctid AS place, g.* FROM projection.\(Statement.quoted(goals)) AS g
                        WHERE g.app = span.app AND g.install_id = span.install_id AND g.counted
                            AND g.occurred_at >= span.first AND g.occurred_at <= span.last AND g.shard = span.shard
                        OFFSET 0
                    ) AS g
                    \(joiningLatest())
                ) AS goal
                WHERE (old_response, old_response_at, old_receipt, old_receipt_at)
                    IS DISTINCT FROM (new_response, new_response_at, new_receipt, new_receipt_at)
                """, parameters))
        var changes: [Change] = []
        for row in rows { changes.append(try Change(row, to: Attribution("new", row), isCounted: true)) }
        return changes
    }

    /// The goals that are too many: on each of these days (UTC) of an install, all but the last ones.
    func surplus(on days: [Span], on connection: inout Connection) throws(PostgresError) -> [Change] {
        guard !days.isEmpty else { return [] }
        let rows = try connection.queryPrepared(
            """
            SELECT g.place::text, g.app, g.shard, g.install_id, \(sql: Self.stored)
            FROM unnest(\(days.map(\.app)), \(days.map(\.shard)), \(days.map(\.install)), \(days.map(\.first)),
                \(days.map(\.last))) AS day (app, shard, install_id, first, last)
            CROSS JOIN LATERAL (
                SELECT g.ctid AS place, g.* FROM projection.\(identifier: goals) AS g
                WHERE g.app = day.app AND g.install_id = day.install_id AND g.counted
                    AND g.occurred_at >= day.first AND g.occurred_at <= day.last AND g.shard = day.shard
                ORDER BY \(sql: Self.latestGoal) OFFSET \(DeliveryGoals.mostADay)
            ) AS g
            """)
        var changes: [Change] = []
        for row in rows { changes.append(try Change(row, to: Attribution(), isCounted: false)) }
        return changes
    }

    func apply(_ changes: [Change], on connection: inout Connection) throws(PostgresError) {
        guard !changes.isEmpty else { return }
        let (responses, receipts) = (changes.map(\.after.response), changes.map(\.after.receipt))
        try connection.queryPrepared(
            """
            UPDATE projection.\(identifier: goals) AS g
            SET response_key = change.response_key, response_at = change.response_at, receipt_key = change.receipt_key,
                receipt_at = change.receipt_at, counted = change.counted
            FROM unnest(\(changes.map(\.place)), \(Nullables(responses.map { $0?.key })),
                \(Nullables(responses.map { $0?.at ?? nil })), \(Nullables(receipts.map { $0?.key })),
                \(Nullables(receipts.map { $0?.at ?? nil })), \(changes.map(\.isCounted)))
                AS change (place, response_key, response_at, receipt_key, receipt_at, counted)
            WHERE g.ctid = change.place::tid
            """)
    }
}

extension GoalTable.Change {
    fileprivate init(
        _ row: Rows.Row, to after: GoalTable.Attribution, isCounted: Bool
    ) throws(PostgresError) {
        self.init(
            place: try row.get("place"), before: try GoalTable.Attribution("old", row), after: after,
            isCounted: isCounted, app: try row.get("app"), shard: try row.get("shard"),
            install: try row.get("install_id"))
    }
}
