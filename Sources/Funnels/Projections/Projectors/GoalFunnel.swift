internal import EventLog

/// Per (app, day, category, campaign, variant, goal, currency, rule): what people did after a notification, and within
/// how much time. The views `goal_funnel` and `goal_times` add up its cells.
enum GoalFunnel: Projector {
    static let name = "goal_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "goal_cells",
            keys: keys + [
                .word("goal", "Which goal was reached"),
                .number("currency", "Currency of the values, five bits for each letter; 0 where none was said"),
                .code("rule", DeliveryGoals.Rule.allCases.map(\.name), "response or receipt"),
                .number("bucket", "The first of the limits that the time does not exceed, from 0"),
            ],
            columns: [
                .count("goals", "Goals"),
                .count("converted", "Deliveries whose quickest goal it is"),
                .count("value_high", "Sum of the values: billions of millionths"),
                .count("value_low", "Sum of the values: millionths beyond those"),
            ], view: .none,
            recount: .init(
                """
                SELECT app, day, category, campaign, variant, goal, currency, rule, bucket, count(*) AS goals,
                    count(*) FILTER (WHERE is_quickest) AS converted, sum(value / 1000000000)::bigint AS value_high,
                    sum(value % 1000000000)::bigint AS value_low
                FROM recount_goal_credit WHERE bucket IS NOT NULL
                GROUP BY app, day, category, campaign, variant, goal, currency, rule, bucket
                """,
                behind: """
                    EXISTS (
                        SELECT FROM recount_goal_credit AS c
                        WHERE c.app = d.app AND c.install_id = d.install_id AND c.notification_key = d.notification_key
                            AND (c.app, c.day, c.category, c.campaign, c.variant, c.goal, c.currency, c.rule, c.bucket)
                                = (cell.app, cell.day, cell.category, cell.campaign, cell.variant, cell.goal, cell.currency,
                                    cell.rule, cell.bucket))
                    """)),
        TallyTable(
            "goal_bases", keys: keys,
            columns: [
                .count("received", "Deliveries with a receipt"),
                .count(
                    "responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
            ], view: .none,
            recount: .init(
                """
                SELECT app, day, category, campaign, variant, count(*) FILTER (WHERE received) AS received,
                    count(*) FILTER (WHERE responded) AS responded
                FROM recount_delivery
                WHERE NOT silent AND (received OR responded) AND app IN (SELECT app FROM recount_goal_app)
                GROUP BY app, day, category, campaign, variant
                """,
                behind: """
                    \(sameDay) AND d.category = cell.category AND d.campaign = cell.campaign AND d.variant = cell.variant
                        AND \(noneSilent)
                    """)),
    ]

    private static let keys: [TallyTable.Key] = [.category, .campaign, .variant]

    /// With what the rates are of, in rows without a goal.
    static let counted = Counted([
        .init(
            source: "projection.goal_base", conditions: ClusterMap.isShown("c.shard"), keys: keys,
            counts: [("received", "c.received"), ("responded", "c.responded")])
    ])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        guard delivery.goals != nil, !delivery.facts.flags.isSilent else { return }
        let flags = delivery.facts.flags
        let bases: UInt32 = (flags.contains(.received) ? 0b01 : 0) | (flags.isResponded ? 0b10 : 0)
        if bases != 0 { tallies[1].add(bases, times: weight, at: cell(of: delivery), of: delivery) }
        countGoals(of: delivery, weight, into: &tallies[0])
    }

    /// The goals alone: what their rates are of is counted already.
    static func countGoals(of delivery: Delivery, _ weight: Int64, into tally: inout Tally) {
        guard let goals = delivery.goals, !goals.credits.isEmpty, !delivery.facts.flags.isSilent else { return }
        let cell = cell(of: delivery)
        var quickest: [Tally.Keys: Int32] = [:]
        for credit in goals.credits {
            guard let bucket = GoalTimes.bucket(of: credit.elapsed(in: delivery.facts)) else { continue }
            var keys = cell
            (keys[3], keys[4], keys[5]) = (credit.goal, Int32(credit.currency), Int32(credit.rule.rawValue))
            quickest[keys] = min(quickest[keys] ?? bucket, bucket)
            keys[6] = bucket
            let (high, low) = credit.value.quotientAndRemainder(dividingBy: 1_000_000_000)
            tally.add([1, 0, high, low], times: weight, at: keys, of: delivery)
        }
        for (keys, bucket) in quickest {
            var keys = keys
            keys[6] = bucket
            tally.add(0b10 as UInt32, times: weight, at: keys, of: delivery)
        }
    }

    private static func cell(of delivery: Delivery) -> Tally.Keys {
        let attributes = delivery.facts.attributes
        return Tally.Keys(attributes.category, attributes.campaign, attributes.variant)
    }
}

/// The limits up to which times are counted.
enum GoalTimes {
    /// In microseconds: 5, 15 and 30 minutes, 1, 3, 6, 12 and 24 hours, 2, 3 and 7 days.
    static let limits: [Int64] = [5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 4_320, 10_080].map { $0 * 60_000_000 }

    /// The first limit that a time does not exceed; nil if it exceeds all.
    static func bucket(of time: Int64) -> Int32? {
        limits.firstIndex { time <= $0 }.map { Int32($0) }
    }

    /// The same in SQL, for the recount.
    static func sql(_ microseconds: String) -> String {
        let cases = limits.enumerated().map { "WHEN \(microseconds) <= \($1) THEN \($0)" }
        return "(CASE \(cases.joined(separator: " ")) END)::smallint"
    }
}
