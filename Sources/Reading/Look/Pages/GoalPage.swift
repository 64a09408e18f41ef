internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// What people did after notifications: all goals of an app, or one of them with its times, categories and campaigns.
enum GoalPage {
    /// By what a goal is put down to a notification.
    enum Rule: String, CaseIterable, Sendable {
        case response, receipt

        static func of(_ state: PageState) -> Rule { state.filters[.rule].flatMap(Rule.init) ?? .response }

        /// The deliveries that a rate is of.
        var whole: Query {
            switch self {
            case .response: "responded"
            case .receipt: "received"
            }
        }

        var title: String {
            switch self {
            case .response: "After the last response"
            case .receipt: "After the last receipt"
            }
        }

        /// What happened to a notification before its goals count.
        var happened: String {
            switch self {
            case .response: "that were answered"
            case .receipt: "that arrived"
            }
        }
    }

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        guard let goal = state.filters[.goal] else { return try list(state, scope, on: &connection) }
        let rule = Rule.of(state)
        var sight = Sight(
            Wording.name(goal, else: "(no name)"),
            lead: "What came before this goal: notifications of \(whose(state)), \(scope.days).", state, scope
        )
        let totals = try connection.answer(goals(state, scope, only: goal), for: state)
        let rows = try connection.rows(of: totals, for: state)
        sight.add(
            "What it means",
            GoalWords(rows, goal: goal).found + [.words(GoalWords.caution, .note)]
                + (try experiments(state, goal, on: &connection)) + [.answer(totals), open(scope)])
        guard !rows.isEmpty || state.isFile else { return sight }
        let currency = GoalWords.main(rows)
        let times = try connection.answer(times(state, scope, goal, rule), for: state)
        sight.add(
            "How soon",
            [rules(state), GoalWords.half(times.grid.rows.filter { ExactName($0.text("currency") ?? "") == currency })]
                + [.answer(times)])
        sight.add("Day by day", try days(state, scope, goal, rule, currency.text, on: &connection))
        // No funnel counts the campaigns of a category.
        guard isOfAll(state) else { return sight }
        for (title, name, view) in [
            ("By category", "category", "analytics.category_funnel" as Query),
            ("By campaign", "campaign", "analytics.campaign_funnel"),
        ] {
            let listing = parts(state, scope, goal, rule, by: name, of: view)
            sight.add(title, [rules(state), .answer(try connection.answer(listing, for: state))])
        }
        return sight
    }

    /// The rule by which the tables below count.
    private static func rules(_ state: PageState) -> Sight.Piece {
        .links(
            Rule.allCases.map { rule in
                Sight.Link(
                    text: rule.title, address: state.with([.rule: rule == .response ? nil : rule.rawValue]).address,
                    isCurrent: rule == Rule.of(state))
            })
    }

    /// Days of which goals are still to come.
    private static func open(_ scope: Scope) -> Sight.Piece? {
        let last = scope.today.advanced(by: -8)
        guard scope.days.last > last else { return nil }
        return .words(
            "Goals within 7 days are complete for notifications up to \(Wording.brief(last)); those of later days "
                + "still gain some.", .note)
    }

    // MARK: Questions

    /// The deliveries that the page is about, all of them or those of a category or campaign, and the funnel that
    /// counts them.
    private static func part(_ state: PageState, _ scope: Scope) -> (mine: Query, funnel: Query) {
        let mine: Query = "app = \(state.app ?? "") AND \(FunnelSQL.during(scope.days))"
        if let category = state.filters[.category] {
            return ("\(mine) AND category = \(category)", "analytics.category_funnel")
        }
        if let campaign = state.filters[.campaign] {
            return ("\(mine) AND campaign = \(campaign)", "analytics.campaign_funnel")
        }
        return (mine, "analytics.category_funnel")
    }

    private static func isOfAll(_ state: PageState) -> Bool {
        state.filters[.category] == nil && state.filters[.campaign] == nil
    }

    /// Refuses what no funnel counts.
    static func check(_ state: PageState) throws(AddressFault) {
        if let rule = state.filters[.rule], Rule(rawValue: rule) == nil {
            throw AddressFault("'rule' is one of \(Rule.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        if state.filters[.category] != nil, state.filters[.campaign] != nil {
            throw AddressFault("Goals are told of a category or of a campaign, not of both.")
        }
    }

    /// Whose notifications.
    private static func whose(_ state: PageState) -> String {
        let app = state.app ?? ""
        if let category = state.filters[.category] { return "the category \(Wording.name(category)) of \(app)" }
        if let campaign = state.filters[.campaign] { return "the campaign \(Wording.name(campaign)) of \(app)" }
        return app
    }

    /// The counts of `goal_funnel` within each of its times, of all rows of a group.
    private static let sums: Query = """
        sum(converted_1h) AS converted_1h, sum(converted_24h) AS converted_24h, sum(converted_7d) AS converted_7d,
                sum(goals_7d) AS goals_7d, sum(value_24h) AS value_24h, sum(value_7d) AS value_7d
        """

    /// The rates of `converted_…` over a column.
    private static func rates(of whole: Query) -> Query {
        """
        converted_24h, round(converted_24h / nullif(\(whole), 0), 6) AS rate_24h, value_24h, currency,
            converted_1h, round(converted_1h / nullif(\(whole), 0), 6) AS rate_1h,
            converted_7d, round(converted_7d / nullif(\(whole), 0), 6) AS rate_7d, goals_7d, value_7d
        """
    }

    /// Goals by rule and currency. A row of `goal_funnel` stands only where goals were reached, so what the rates are
    /// of comes from the funnel of all notifications.
    private static func goals(_ state: PageState, _ scope: Scope, only goal: String?) -> Listing {
        let (mine, funnel) = part(state, scope)
        let rule = goal == nil ? state.filters[.rule] : nil
        let named: Query = goal.map { " AND goal = \($0)" } ?? rule.map { " AND rule = \($0)" } ?? ""
        var listing = Listing(
            "goals", goal == nil ? "Goals, by the rule that puts them down to notifications" : "By rule and currency",
            """
            SELECT goal, rule, CASE rule WHEN 'response' THEN w.responded ELSE w.received END AS notifications,
                \(rates(of: "CASE rule WHEN 'response' THEN w.responded ELSE w.received END"))
            FROM (
                SELECT goal, rule, currency,
                    \(sums)
                FROM analytics.goal_funnel WHERE \(mine)\(named)
                GROUP BY goal, rule, currency
            ) AS f
            CROSS JOIN (
                SELECT sum(received) AS received, sum(responded) AS responded FROM \(funnel) WHERE \(mine)
            ) AS w
            ORDER BY max(converted_24h) OVER (PARTITION BY goal) DESC, goal, rule DESC, converted_24h DESC, currency
            """)
        listing.most = 60
        listing.bars = ["rate_24h"]
        listing.none = goal == nil ? "No goal was reached within 7 days after a notification of these days." : "None."
        listing.hidden = goal == nil ? ["goals_7d", "value_7d", "converted_1h", "converted_7d"] : ["goal"]
        listing.meanings["notifications"] = meaning
        listing.meansAsIn = ["goal_funnel"]
        listing.link = { row, column in
            guard goal == nil, column == "goal", let goal = row.text("goal") else { return nil }
            return state.with([.goal: goal])
        }
        return listing
    }

    private static let meaning =
        "What the rates are of: by the rule response the notifications that were answered, by receipt those that "
        + "arrived"

    private static func times(_ state: PageState, _ scope: Scope, _ goal: String, _ rule: Rule) -> Listing {
        let (mine, funnel) = part(state, scope)
        var listing = Listing(
            "times", "Within which time, \(rule.title.lowercased())",
            """
            SELECT within_minutes, converted,
                round(converted / nullif(max(converted) OVER (PARTITION BY currency), 0), 6) AS share,
                round(converted / nullif(w.\(rule.whole), 0), 6) AS rate, goals, value, currency
            FROM (
                SELECT within_minutes, currency, sum(converted) AS converted, sum(goals) AS goals, sum(value) AS value
                FROM analytics.goal_times WHERE \(mine) AND goal = \(goal) AND rule = \(rule.rawValue)
                GROUP BY within_minutes, currency
            ) AS t
            CROSS JOIN (SELECT sum(\(rule.whole)) AS \(rule.whole) FROM \(funnel) WHERE \(mine)) AS w
            ORDER BY currency, within_minutes
            """)
        listing.most = 55
        listing.bars = ["share"]
        listing.meanings["share"] = "converted, of those within the longest time that is counted, 7 days"
        return listing
    }

    private static func days(
        _ state: PageState, _ scope: Scope, _ goal: String, _ rule: Rule, _ currency: String,
        on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let (mine, funnel) = part(state, scope)
        var listing = Listing(
            "trend", "Day by day\(currency.isEmpty ? "" : ", in \(currency)")",
            """
            SELECT day, \(rule.whole), coalesce(converted_24h, 0) AS converted_24h,
                round(coalesce(converted_24h, 0) / nullif(\(rule.whole), 0), 6) AS rate_24h,
                    coalesce(value_24h, 0) AS value_24h
            FROM (
                SELECT day, sum(\(rule.whole)) AS \(rule.whole) FROM \(funnel) WHERE \(mine) GROUP BY day
            ) AS w
            LEFT JOIN (
                SELECT day, sum(converted_24h) AS converted_24h, sum(value_24h) AS value_24h FROM analytics.goal_funnel
                WHERE \(mine) AND goal = \(goal) AND rule = \(rule.rawValue) AND currency = \(currency) GROUP BY day
            ) AS f USING (day)
            ORDER BY day
            """)
        listing.most = DayRange.most
        listing.meansAsIn = ["goal_funnel"]
        let answer = try connection.answer(listing, for: state)
        var charts: [(String, Chart.Unit, String)] = [
            ("Notifications followed by it within 24 hours", .count, "converted_24h"),
            ("Share of those \(rule.happened)", .share, "rate_24h"),
        ]
        if answer.grid.rows.contains(where: { $0.number("value_24h") ?? 0 > 0 }) {
            charts.append(("Value within 24 hours\(currency.isEmpty ? "" : ", \(currency)")", .count, "value_24h"))
        }
        guard !answer.grid.rows.isEmpty else { return [.words("Nothing in these days.", .note), .source(answer)] }
        let drawn = charts.map { FunnelParts.trend($0, $1, $2, answer.grid, scope, .day) }
        let note = "By the day of the notification. Dashed on grey: days that are not settled."
        return [
            .trends(drawn), .words(note + (FunnelParts.beginning(of: drawn, scope) ?? ""), .note), .source(answer),
        ]
    }

    /// What each category or campaign led to. The rates are of all its notifications.
    private static func parts(
        _ state: PageState, _ scope: Scope, _ goal: String, _ rule: Rule, by name: String, of view: Query
    ) -> Listing {
        let isCategory = name == "category"
        let column: Query = isCategory ? "category" : "campaign"
        let mine: Query = "app = \(state.app ?? "") AND \(FunnelSQL.during(scope.days))"
        var listing = Listing(
            isCategory ? "categories" : "campaigns",
            "\(isCategory ? "Categories" : "Campaigns"), \(rule.title.lowercased())",
            """
            SELECT \(column), \(rule.whole), \(rates(of: rule.whole))
            FROM (
                SELECT \(column), currency,
                    \(sums)
                FROM analytics.goal_funnel WHERE \(mine) AND goal = \(goal) AND rule = \(rule.rawValue)
                GROUP BY \(column), currency
            ) AS f
            LEFT JOIN (
                SELECT \(column), sum(\(rule.whole)) AS \(rule.whole) FROM \(view) WHERE \(mine) GROUP BY \(column)
            ) AS w USING (\(column))
            ORDER BY converted_24h DESC, \(column), currency
            """)
        listing.bars = ["rate_24h"]
        listing.hidden = ["goals_7d", "value_7d", "converted_1h"]
        listing.meansAsIn = ["goal_funnel"]
        listing.link = { row, shown in
            guard shown == name, let text = row.text(name) else { return nil }
            return isCategory
                ? state.turned(to: .category).with([.category: text])
                : state.turned(to: .campaign).with([.campaign: text])
        }
        return listing
    }

    // MARK: All goals

    /// The table that reads each goal, since no funnel counts those that no notification came before.
    private static let reached = "reached"

    private static func list(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> Sight {
        var sight = Sight(
            "Goals", lead: "What people did after the notifications of \(whose(state)), \(scope.days).", state, scope
        )
        let answer = try connection.answer(goals(state, scope, only: nil), for: state)
        let rows = answer.grid.rows
        var names: [String] = []
        for name in rows.compactMap({ $0.text("goal") })
        where !names.contains(where: { ExactName($0) == ExactName(name) }) {
            names.append(name)
        }
        let found = names.prefix(5).flatMap { name in
            GoalWords(rows.filter { ExactName($0.text("goal") ?? "") == ExactName(name) }, goal: name).found.prefix(1)
        }
        let none = "An app tells of goals with the event goal.reached."
        sight.add(
            "What it means",
            rows.isEmpty
                ? [.words(none), .answer(answer)]
                : found + [.words(GoalWords.caution, .note), .answer(answer), open(scope)])
        if isOfAll(state) {
            sight.add("All that were reached", try reached(state, scope, on: &connection))
        } else {
            let all = state.with([.category: nil, .campaign: nil]).address
            sight.add("Other notifications", [.links([.init(text: "Goals after all notifications", address: all)])])
        }
        return sight
    }

    private static func reached(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let zone = scope.timeZone
        var listing = Listing(
            reached, "Goals that were reached in these days, whether or not a notification came before",
            """
            SELECT goal, currency, count(*) AS reached, count(DISTINCT install_id) AS installs,
                count(response) AS after_response, count(receipt) AS after_receipt,
                count(*) FILTER (WHERE receipt IS NULL AND response IS NULL) AS after_none,
                sum(value) AS value
            FROM analytics.goals
            WHERE app = \(state.app ?? "") AND counted
                AND occurred_at >= \(scope.days.first)::timestamp AT TIME ZONE \(zone)
                AND occurred_at < \(scope.days.last.advanced(by: 1))::timestamp AT TIME ZONE \(zone)
            GROUP BY goal, currency ORDER BY reached DESC, goal, currency
            """)
        listing.meanings = [
            "reached":
                "Goals, by the time when they were reached. Those beyond the last 100 of an install and day are left "
                + "out",
            "installs": "Installs that reached it",
            "after_response": "Those that are put down to a notification by the rule response",
            "after_receipt": "Those that are put down to a notification by the rule receipt",
            "after_none": "Those that came without a notification in the 7 days before",
        ]
        listing.link = { row, column in
            guard column == "goal", let goal = row.text("goal") else { return nil }
            return state.with([.goal: goal])
        }
        // A list of the page's tables has it, too.
        if state.format == .json, state.table == nil { return [.source(.unread(listing))] }
        if state.table == reached { return [.answer(try connection.answer(listing, for: state))] }
        var asked = state
        asked.table = reached
        return [
            .links([.init(text: "Count all goals, also those without a notification", address: asked.address)]),
            .words("This reads every goal of the app, which takes a moment if it has very many.", .note),
        ]
    }

    /// Only an experiment says what would have happened anyway.
    private static func experiments(
        _ state: PageState, _ goal: String, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let rows = try connection.ask(
            """
            SELECT experiment FROM analytics.experiment_versions
            WHERE app = \(state.app ?? "") AND is_newest AND (\(goal) = ANY (goals) OR goals = '{}')
            ORDER BY starts_at DESC, experiment LIMIT 5
            """
        ).rows
        return [
            .links(
                rows.compactMap { $0.text("experiment") }.map { name in
                    Sight.Link(
                        text: "Experiment \(String(printable: name))",
                        address: state.turned(to: .experiment).with([.experiment: name]).address)
                })
        ].filter { _ in !rows.isEmpty }
    }
}
