internal import Postgres
internal import Telemetry
internal import Values

/// A goal, and how often people reached it after the notifications of the day.
struct GoalSummary: Hashable, Sendable {
    /// The app's own word. Those that a list leaves out have none.
    var name = ""
    /// '' where none was said. Goals of one name and several currencies are several goals here.
    var currency = ""
    /// Put down to the latest response before the goal, and to the latest receipt.
    var response = GoalCounts()
    var receipt = GoalCounts()
    /// The most goals by receipt first.
    var campaigns: [GoalCampaign] = []
    /// Of the campaigns that `campaigns` leaves out; nil if there are none.
    var otherCampaigns: RestOfList<GoalCampaign>?
}

/// What is put down to one campaign of it.
struct GoalCampaign: Hashable, Sendable {
    var name = ""
    var response = GoalCounts()
    var receipt = GoalCounts()
}

/// The columns of `goal_funnel` by one rule.
struct GoalCounts: Hashable, Sendable {
    /// Within one hour, 24 hours and 7 days.
    var converted: [Int64] = [0, 0, 0]
    var goals: [Int64] = [0, 0, 0]
    var value: [Amount] = Array(repeating: Amount(millionths: 0), count: 3)

    static let windows = ["1h", "24h", "7d"]

    var inAnHour: Int64 { goals[0] }
    var convertedInADay: Int64 { converted[1] }
    var goalsInADay: Int64 { goals[1] }
    var valueInADay: Amount { value[1] }

    /// Values of several currencies have no sum.
    func facts(withValue hasValue: Bool) -> [Fact] {
        Self.windows.enumerated().flatMap { place, window in
            [.count("converted_\(window)", converted[place]), .count("goals_\(window)", goals[place])]
                + (hasValue ? [.amount("value_\(window)", value[place])] : [])
        }
    }
}

extension GoalSummary {
    /// What was reached after notifications of these days. The database chooses the largest goals, and of each the
    /// largest campaigns.
    static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> (goals: [GoalSummary], rest: RestOfList<GoalSummary>?) {
        let (most, parts) = (scope.bound.entries, scope.bound.parts)
        let rows = try connection.query(
            """
            WITH told AS MATERIALIZED (
                SELECT * FROM analytics.goal_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            ), sized AS (
                SELECT goal, currency, campaign,
                    coalesce(sum(converted_24h) FILTER (WHERE rule = 'receipt'), 0) AS size,
                    sum(coalesce(sum(converted_24h) FILTER (WHERE rule = 'receipt'), 0))
                        OVER (PARTITION BY goal, currency) AS goal_size
                FROM told GROUP BY goal, currency, campaign
            ), placed AS MATERIALIZED (
                SELECT goal, currency, campaign,
                    least(
                        dense_rank() OVER (ORDER BY goal_size DESC, goal COLLATE "C", currency COLLATE "C"),
                        \(most) + 1) AS place,
                    least(
                        row_number() OVER (PARTITION BY goal, currency ORDER BY size DESC, campaign COLLATE "C"),
                        \(parts) + 1) AS part
                FROM sized
            )
            SELECT place, part, rule = 'receipt', min(goal COLLATE "C"), min(currency COLLATE "C"),
                min(campaign COLLATE "C"),
                CASE WHEN part IS NULL AND place > \(most) THEN count(DISTINCT (goal, currency))
                    WHEN part > \(parts) THEN count(DISTINCT campaign) ELSE 0 END,
                sum(converted_1h)::bigint, sum(converted_24h)::bigint, sum(converted_7d)::bigint,
                sum(goals_1h)::bigint, sum(goals_24h)::bigint, sum(goals_7d)::bigint,
                (sum(value_1h) * 1000000)::numeric(38, 0)::text, (sum(value_24h) * 1000000)::numeric(38, 0)::text,
                (sum(value_7d) * 1000000)::numeric(38, 0)::text
            FROM told JOIN placed USING (goal, currency, campaign)
            GROUP BY GROUPING SETS ((place, rule), (place, part, rule)) HAVING place <= \(most) OR part IS NULL
            ORDER BY place, part NULLS FIRST
            """)
        var goals: [GoalSummary] = []
        var rest: RestOfList<GoalSummary>?
        for row in rows {
            let counts = try GoalCounts(row, from: 7)
            let (isByReceipt, leftOut): (Bool, Int64) = (try row.get(2), try row.get(6))
            let rule = isByReceipt ? \GoalSummary.receipt : \GoalSummary.response
            let place: Int64 = try row.get(0)
            if place > most {
                var sum = rest ?? RestOfList(entries: 0, counts: GoalSummary())
                sum.entries = max(sum.entries, leftOut)
                sum.counts[keyPath: rule] = counts
                rest = sum
            } else if let part: Int64 = try row.optional(1) {
                guard !goals.isEmpty else { continue }
                goals[goals.count - 1].add(
                    counts, isByReceipt: isByReceipt, of: try row.get(5), part: part, leftOut: leftOut)
            } else {
                if goals.count < place { goals.append(GoalSummary(name: try row.get(3), currency: try row.get(4))) }
                goals[goals.count - 1][keyPath: rule] = counts
            }
        }
        return (goals, rest)
    }

    /// Adds what one rule puts down to a campaign, or to so many that the list leaves out.
    private mutating func add(
        _ counts: GoalCounts, isByReceipt: Bool, of name: String, part: Int64, leftOut: Int64
    ) {
        let rule = isByReceipt ? \GoalCampaign.receipt : \GoalCampaign.response
        if leftOut > 0 {
            var rest = otherCampaigns ?? RestOfList(entries: 0, counts: GoalCampaign())
            rest.entries = max(rest.entries, leftOut)
            rest.counts[keyPath: rule] = counts
            otherCampaigns = rest
        } else {
            if campaigns.count < part { campaigns.append(GoalCampaign(name: name)) }
            campaigns[campaigns.count - 1][keyPath: rule] = counts
        }
    }
}

extension GoalCounts {
    fileprivate init(_ row: Rows.Row, from column: Int) throws(PostgresError) {
        for window in 0..<3 {
            converted[window] = try row.get(column + window)
            goals[window] = try row.get(column + 3 + window)
            value[window] = Amount(digits: try row.get(column + 6 + window)) ?? Amount(millionths: 0)
        }
    }
}
