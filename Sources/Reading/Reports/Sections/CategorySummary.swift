internal import Postgres
internal import Telemetry

/// One category on the day.
struct CategorySummary: Hashable, Sendable {
    var name: String
    var counts: FunnelCounts
    /// By tapped deliveries, the most first.
    var actions: [Action] = []
    /// Of the tapped buttons that `actions` leaves out; nil if there are none.
    var otherActions: RestOfList<Action>?
    /// Over all days: its registered buttons in their places, then those that were tapped without being registered.
    /// Empty if no button of the category was ever registered.
    var buttons: [Button] = []
    /// Of the buttons that `buttons` leaves out; nil if there are none.
    var otherButtons: RestOfList<Button>?
    /// By deliveries on which it was tapped that day, the most first. Empty if no tapped button has a registered
    /// answer.
    var answers: [Answer] = []
    /// Dismissed of delivered; nil unless the category is registered as one whose dismissals iOS reports.
    var dismissRate: Double?
    /// Opened deliveries by the state of the app at the first response that says it: `cold`, `warm`, `foreground`, or ''
    /// where none does.
    var launches: [Launch] = []

    struct Action: Hashable, Sendable {
        var id: String
        var tappedDeliveries: Int64
        var taps: Int64
        var foregroundTaps: Int64
        /// Deliveries with a tap and a receipt before it.
        var timed: Int64
        var medianSeconds: Double?

        /// What adds up over buttons.
        var counts: [Fact] {
            [
                .count("tapped_deliveries", tappedDeliveries), .count("taps", taps),
                .count("foreground_taps", foregroundTaps), .count("timed", timed),
            ]
        }
    }

    struct Answer: Hashable, Sendable {
        /// accept, decline, later or close; '' for buttons without one.
        var answer: String
        var tappedDeliveries: Int64
        var taps: Int64
    }

    struct Launch: Hashable, Sendable {
        var state: String
        var opened: Int64
    }
}

extension CategorySummary {
    static func read(
        _ scope: ReportScope, withLaunches: Bool, on connection: inout Connection
    ) throws(PostgresError) -> (listed: [CategorySummary], rest: RestOfList<FunnelCounts>?) {
        let rows = try connection.query(
            """
            WITH ranked AS MATERIALIZED (
                SELECT category, row_number() OVER (ORDER BY sum(delivered) DESC, category COLLATE "C") AS place
                FROM analytics.category_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day) GROUP BY category
            ), named AS MATERIALIZED (
                SELECT category, CASE WHEN place <= \(scope.bound.entries) THEN place END AS place FROM ranked
            )
            SELECT CASE WHEN place IS NOT NULL THEN min(category COLLATE "C") END, \(sql: FunnelCounts.sums),
                CASE WHEN bool_or(dismiss_rate IS NOT NULL) THEN sum(dismissed)::float8 / nullif(sum(delivered), 0) END,
                count(DISTINCT category)
            FROM analytics.category_funnel JOIN named USING (category)
            WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY place ORDER BY place NULLS LAST
            """)
        var (listed, rest): ([CategorySummary], RestOfList<FunnelCounts>?) = ([], nil)
        for row in rows {
            guard let text: String = try row.optional(0) else {
                rest = RestOfList(entries: try row.get(2 + FunnelCounts.width), counts: try FunnelCounts(row, from: 1))
                continue
            }
            let counts = try FunnelCounts(row, from: 1)
            listed.append(
                CategorySummary(
                    name: text, counts: counts, dismissRate: try row.optional(1 + FunnelCounts.width)))
        }
        // Medians of days do not make the median of a week.
        guard scope.period.length == 1 else { return (listed, rest) }
        let names = listed.map(\.name)
        let actions = try readActions(of: names, scope, on: &connection)
        let answers = try readAnswers(of: names, scope, on: &connection)
        let launches = withLaunches ? try readLaunches(of: names, scope, on: &connection) : [:]
        for place in listed.indices {
            let name = ExactName(listed[place].name)
            (listed[place].actions, listed[place].otherActions) = (actions[name]?.listed ?? [], actions[name]?.rest)
            let buttons = scope.buttons[name]
            (listed[place].buttons, listed[place].otherButtons) = (buttons?.listed ?? [], buttons?.rest)
            (listed[place].answers, listed[place].launches) = (answers[name] ?? [], launches[name] ?? [])
        }
        return (listed, rest)
    }

    private static func readActions(
        of categories: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: BoundList<Action>] {
        let most = scope.bound.parts
        return try connection.query(
            """
            SELECT category, min(action_id COLLATE "C"), sum(tapped_deliveries)::bigint, sum(taps)::bigint,
                sum(foreground_taps)::bigint, sum(timed)::bigint, min(median_seconds)::float8,
                count(*) FILTER (WHERE place > \(most))
            FROM (
                SELECT *, least(
                    row_number() OVER (PARTITION BY category ORDER BY tapped_deliveries DESC, action_id COLLATE "C"),
                    \(most) + 1) AS place
                FROM analytics.category_actions
                WHERE app = \(scope.app) AND day = \(scope.day) AND category = ANY (\(categories))
            ) AS ranked
            GROUP BY category, place ORDER BY place
            """
        ).listedByName(leftOut: 7) { row throws(PostgresError) in
            Action(
                id: try row.get(1), tappedDeliveries: try row.get(2), taps: try row.get(3),
                foregroundTaps: try row.get(4), timed: try row.get(5), medianSeconds: try row.optional(6))
        }
    }

    private static func readAnswers(
        of categories: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Answer]] {
        try connection.query(
            """
            SELECT category, answer, tapped_deliveries::bigint, taps::bigint FROM analytics.category_answers
            WHERE app = \(scope.app) AND day = \(scope.day) AND category = ANY (\(categories))
            ORDER BY tapped_deliveries DESC, answer COLLATE "C"
            """
        ).byName { row throws(PostgresError) in
            Answer(answer: try row.get(1), tappedDeliveries: try row.get(2), taps: try row.get(3))
        }.filter { $1.contains { !$0.answer.isEmpty } }
    }

    private static func readLaunches(
        of categories: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [Launch]] {
        try connection.query(
            """
            SELECT category, coalesce(launch, ''), count(*) FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND opened AND NOT silent AND category = ANY (\(categories))
            GROUP BY category, coalesce(launch, '') ORDER BY count(*) DESC, coalesce(launch, '') COLLATE "C"
            """
        ).byName { row throws(PostgresError) in Launch(state: try row.get(1), opened: try row.get(2)) }
    }
}
