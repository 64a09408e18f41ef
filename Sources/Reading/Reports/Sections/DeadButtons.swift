internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// A button that nobody taps.
///
/// Of registered buttons, the verdict of `analytics.category_buttons` decides, and `DeadActionRule` finds those that
/// fell silent. Of buttons that nobody registered, that rule finds both kinds.
struct DeadAction: Hashable, Sendable {
    var category: String
    var what: What
    /// Deliveries that could have been tapped: of a registered button that was never tapped, those on which people saw
    /// it; else those of the category after the day of its last tap or, if it was never tapped, of the 28 days up to
    /// the day, from the first tap that showed that the button exists. Only of days that have settled, and never fewer
    /// than 100.
    var delivered: Int64
    /// With 95 % confidence, fewer than this share of people would tap it.
    var bound: Double
    /// Its title, if it is registered.
    var title: String?

    enum What: Hashable, Sendable {
        /// Tapped before, and not on any of the last so many days.
        case silentSince(id: String, days: Int)
        /// Never tapped: the button at this place (from 0) of so many. It is known from taps on its neighbours.
        case neverTapped(index: Int, count: Int)
        /// Registered, seen often enough, and never tapped.
        case untapped(id: String)
    }
}

extension DeadAction {
    fileprivate static func read(
        _ scope: ReportScope, settledUpTo lastSettled: CivilDate, on connection: inout Connection
    ) throws(PostgresError) -> [DeadAction] {
        let first = scope.first(of: DeadActionRule.days)
        let categories = try readCategories(scope, on: &connection)
        let delivered = try connection.query(
            """
            SELECT category, day, delivered FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day BETWEEN \(first) AND \(scope.day) AND category = ANY (\(categories))
            """
        ).map { row throws(PostgresError) in
            DeadActionRule.Delivered(category: try row.get(0), day: try row.get(1), deliveries: try row.get(2))
        }
        // The rule asks for no more than the last day and the sum of the settled ones. More buttons than a phone shows
        // are a mistake or noise: of those, the most tapped.
        let tapped = try connection.query(
            """
            SELECT category, action_id, last_day, taps FROM (
                SELECT
                    category, action_id, max(day) AS last_day,
                    coalesce(sum(tapped_deliveries) FILTER (WHERE day <= \(lastSettled)), 0)::bigint AS taps,
                    row_number() OVER (
                        PARTITION BY category ORDER BY sum(tapped_deliveries) DESC, action_id COLLATE "C") AS place
                FROM analytics.category_actions
                WHERE app = \(scope.app) AND day BETWEEN \(first) AND \(scope.day) AND category = ANY (\(categories))
                GROUP BY category, action_id
            ) AS ranked WHERE place <= \(scope.bound.parts)
            """
        ).map { row throws(PostgresError) in
            DeadActionRule.Tapped(
                category: try row.get(0), id: try row.get(1), day: try row.get(2), deliveries: try row.get(3))
        }
        let places = tapped.isEmpty ? [] : try readPlaces(in: categories, scope, on: &connection)
        let buttons = scope.buttons.mapValues(\.listed)
        let found = DeadActionRule(
            day: scope.day, lastSettled: lastSettled, delivered: delivered, tapped: tapped, places: places
        ).find().compactMap { $0.judged(by: buttons[ExactName($0.category)] ?? []) }
        let unsettled = try readUnsettled(scope, after: lastSettled, on: &connection)
        let untapped = untapped(
            among: buttons, unsettled: unsettled, last: DeadActionRule.lastBeginning(upTo: lastSettled))
        // `sorted` keeps the order of equal elements.
        return (untapped + found).sorted { $0.delivered > $1.delivered }
    }

    /// The categories with taps in those days, those with most deliveries: as many as a list names.
    private static func readCategories(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [String] {
        // Without a join, which could be planned badly.
        try connection.query(
            """
            SELECT category FROM (
                SELECT category, day, delivered, false AS is_tapped FROM analytics.category_funnel
                    WHERE app = \(scope.app)
                UNION ALL
                SELECT category, day, 0, true FROM analytics.category_actions WHERE app = \(scope.app)
            ) AS part
            WHERE day BETWEEN \(scope.first(of: DeadActionRule.days)) AND \(scope.day)
            GROUP BY category HAVING bool_or(is_tapped)
            ORDER BY sum(delivered) DESC, category COLLATE "C" LIMIT \(scope.bound.entries)
            """
        ).map { row throws(PostgresError) in try row.get(0) }
    }

    /// The registered buttons that were seen often enough and never tapped, though their neighbours were.
    ///
    /// On days that have not settled as many may have seen them as `unsettled` says of their category: these prove
    /// nothing yet. A button that was added to its category after the day `last` is too young.
    static func untapped(
        among buttons: [ExactName: [Button]], unsettled: [ExactName: Int64], last: CivilDate
    ) -> [DeadAction] {
        buttons.keys.sorted().flatMap { category in
            let all = buttons[category] ?? []
            let began = all.compactMap(\.registered).min()
            return all.compactMap { button -> DeadAction? in
                guard button.verdict == .untapped, let seen = button.exposures else { return nil }
                let exposures = seen - (unsettled[category] ?? 0)
                guard exposures >= DeadActionRule.leastSeen, let bound = TwoProportions.bound(ofNoneIn: exposures),
                    DeadActionRule.isProof(exposures, beside: all.compactMap(\.neighbourRate))
                else { return nil }
                if let own = button.registered, let began, own > began, own > last { return nil }
                return DeadAction(
                    category: category.text, what: .untapped(id: button.id), delivered: exposures, bound: bound,
                    title: button.title)
            }
        }
    }

    /// By category, how many deliveries of the days that have not settled may have shown their buttons.
    private static func readUnsettled(
        _ scope: ReportScope, after lastSettled: CivilDate, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: Int64] {
        try connection.query(
            """
            SELECT category, sum(expanded + action_tapped)::bigint FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day > \(lastSettled) AND category = ANY (\(scope.buttons.keys.map(\.text)))
            GROUP BY category
            """
        ).byName { row throws(PostgresError) in try row.get(1, as: Int64.self) }.compactMapValues(\.first)
    }

    /// With its title. Nil if it is no longer registered, and if registered buttons are known: then their verdicts say
    /// which were never tapped.
    func judged(by buttons: [Button]) -> DeadAction? {
        guard buttons.contains(where: \.isThere) else { return self }
        guard case .silentSince(let id, _) = what,
            let button = buttons.first(where: { ExactName($0.id) == ExactName(id) }), button.verdict != .retired
        else { return nil }
        var named = self
        named.title = button.title
        return named
    }

    /// What taps in the sample of the log say about the places of buttons. Their days are those of the taps: looking up
    /// the day of each delivery would be too expensive.
    private static func readPlaces(
        in categories: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [DeadActionRule.Place] {
        let sample = scope.sample
        return try connection.query(
            """
            SELECT * FROM (
            SELECT category, action_id, action_index, action_count, min(first_day), max(last_day), row_number() OVER (
                PARTITION BY category
                ORDER BY sum(taps) DESC, action_id COLLATE "C", action_index, action_count) AS place
            FROM generate_series(\(sample.start), \(sample.end), make_interval(mins => \(sample.step))) AS stretch
            CROSS JOIN LATERAL (
                SELECT
                    coalesce(category, '') AS category, action_id, action_index, action_count,
                    min((occurred_at AT TIME ZONE \(scope.timeZone))::date) AS first_day,
                    max((occurred_at AT TIME ZONE \(scope.timeZone))::date) AS last_day,
                    count(*) AS taps
                FROM analytics.action_taps
                WHERE app = \(scope.app) AND type = 'action.tapped' AND device_at >= stretch
                    AND device_at < stretch + make_interval(mins => \(sample.width))
                    AND (occurred_at AT TIME ZONE \(scope.timeZone))::date
                        BETWEEN \(scope.first(of: DeadActionRule.days)) AND \(scope.day)
                    AND coalesce(category, '') = ANY (\(categories))
                GROUP BY 1, 2, 3, 4
            ) AS part
            GROUP BY category, action_id, action_index, action_count
            ) AS ranked WHERE place <= \(5 * scope.bound.parts)
            """
        ).map { row throws(PostgresError) in
            let (first, last): (CivilDate, CivilDate) = (try row.get(4), try row.get(5))
            return DeadActionRule.Place(
                category: try row.get(0), id: try row.get(1), index: try row.optional(2), count: try row.optional(3),
                days: first...last)
        }
    }
}

/// Buttons that nobody taps, with the greatest share of people who might.
enum DeadButtonsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let all = try DeadAction.read(
            scope, settledUpTo: report.settling.lastSettledDay(upTo: scope.day), on: &connection)
        report.deadActions = Array(all.prefix(Int(scope.bound.entries)))
        let rest = all.dropFirst(report.deadActions.count)
        report.otherDeadActions =
            rest.isEmpty
            ? nil
            : RestOfList(entries: Int64(rest.count), counts: rest.reduce(0) { $0.addingSaturated($1.delivered) })
    }

    static func deeds(_ report: Report) -> [Deed] {
        // A button that was tapped before and is not any more has broken or lost its use; one that never was may go.
        let fallen = report.deadActions.filter(\.hasFallenSilent)
        let never = report.deadActions.filter { !$0.hasFallenSilent }
        func deed(_ list: [DeadAction], _ urgency: Deed.Urgency, _ what: String) -> [Deed] {
            list.prefix(1).map { dead in
                let (button, known) = dead.words
                return Deed(
                    urgency: urgency, deliveries: dead.delivered,
                    ask: "\(what) \(button) of \(Wording.name(dead.category, else: CategoriesSection.none))",
                    why:
                        "\(known), in \(Wording.count(dead.delivered, "delivery", "deliveries"))"
                        + (list.count > 1 ? "; \(list.count - 1) more like it" : ""), section: "Dead buttons",
                    subject: .category(dead.category))
            }
        }
        return deed(fallen, .fallen, "Find out why nobody taps the button")
            + deed(never, .better, "Replace or remove the button")
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.deadActions.isEmpty else { return nil }
        let table = Table("Delivered often and not tapped", of: report.deadActions) { dead in
            let (button, known) = dead.words
            return [
                .name("Category", dead.category, else: CategoriesSection.none), .text("Button", button),
                .text("What is known", known), .count("Deliveries", dead.delivered),
                .number("Tap rate", Wording.lessThan(dead.bound)),
            ]
        }
        return Page.Section(
            "Dead buttons",
            [
                .table(table)
            ] + RestOfList.words(report.otherDeadActions, "button", "buttons", { $0 }) + [
                .sentence(
                    "Deliveries are counted since the button's last tap, or over at most the last 28 days if it has "
                        + "none; of a registered button, all that showed it. None of them was tapped, so the true tap "
                        + "rate is below the one at the right (95 % confidence). Buttons appear only after a press on "
                        + "the notification, so a delivered button is not always a seen one. Days that have not "
                        + "settled are left out, and so is a button whose neighbours are tapped so rarely that no tap "
                        + "may be chance.", .note)
            ])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("dead_actions", report.deadActions) { dead in
            let known: (id: String?, index: Int?, count: Int?, days: Int?) =
                switch dead.what {
                case .silentSince(let id, let days): (id, nil, nil, days)
                case .untapped(let id): (id, nil, nil, nil)
                case .neverTapped(let index, let count): (nil, index, count, nil)
                }
            return Entry(
                keys: [
                    .text("category", dead.category), .text("action_id", known.id),
                    .count("action_index", known.index),
                ],
                facts: [
                    .text("title", dead.title), .count("action_count", known.count),
                    .count("days_without_tap", known.days), .count("delivered", dead.delivered),
                    .number("rate_bound", dead.bound),
                ])
        } + RestOfList.facts("other_dead_actions", report.otherDeadActions) { [.count("delivered", $0)] }
    }
}

extension DeadAction {
    fileprivate var hasFallenSilent: Bool { if case .silentSince = what { true } else { false } }

    /// The button, and what is known of it.
    fileprivate var words: (button: String, known: String) {
        switch what {
        case .untapped(let id): (Button.label(id, title: title), "never tapped where people saw it")
        case .silentSince(let id, let days):
            (Button.label(id, title: title), "tapped before, but not for \(Wording.count(Int64(days), "day", "days"))")
        case .neverTapped(let index, let count):
            ((title.map { "\($0) · " } ?? "") + "place \(index + 1) of \(count)", "never tapped")
        }
    }
}
