internal import Postgres
internal import Reports
internal import Values

/// Two versions of an app side by side: `version` and the one that it is compared `against`, on one platform or on all.
enum VersionsPage {
    /// The table that scans the deliveries of a day.
    private static let scanned = "by_category"

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        var sight = Sight(
            "Versions", lead: "Two versions of \(state.app ?? "") side by side, \(scope.days).", state, scope)
        var listing = AppPage.versions(state, scope, on: state.filters[.platform])
        listing.most = 50
        let list = try connection.answer(listing, for: state)
        let rows = try connection.rows(of: list, for: state)
        let versions = Pair.names(rows)
        guard let pair = Pair(state, versions) else {
            sight.add(
                "Nothing to compare",
                [.words("Fewer than two versions have deliveries in these days."), platforms(rows, state)])
            sight.add("All versions", [.answer(list)])
            return sight
        }
        let choice = Sight.Choice(
            title: "Versions", button: "Compare",
            fields: [
                .init(title: "Version", filter: .version, chosen: pair.version),
                .init(title: "Compared with", filter: .against, chosen: pair.against),
            ], names: pair.choices(of: versions), state: state)
        sight.add("Which versions", [.choice(choice), platforms(rows, state)])
        guard !pair.isSame || state.isFile else {
            sight.add("The same version", [.words("Choose two different versions.")])
            return sight
        }
        try compare(pair, state, scope, to: &sight, on: &connection)
        sight.add("All versions", [.answer(list)])
        return sight
    }

    private static func compare(
        _ pair: Pair, _ state: PageState, _ scope: Scope, to sight: inout Sight, on connection: inout Connection
    ) throws(PostgresError) {
        let mine: Query = "app = \(state.app ?? "")\(platform(state)) AND \(FunnelSQL.during(scope.days))"
        var listing = Listing(
            "pair", "The two versions",
            """
            SELECT app_version, \(FunnelSQL.steps)
            FROM analytics.version_funnel WHERE \(mine) AND app_version IN (\(pair.version), \(pair.against))
            GROUP BY app_version ORDER BY app_version <> \(pair.version)
            """)
        listing.hidden = ["responded", "suppressed", "unanswered", "story_action_tapped"]
        listing.none = "Neither version has deliveries in these days."
        listing.link = { row, column in
            guard let flag = DeliveriesPage.flag(of: column), let version = row.text("app_version") else { return nil }
            return state.with([.version: version, .flag: flag.isEmpty ? nil : flag], page: .deliveries)
        }
        let both = try connection.answer(listing, for: state)
        let ladders = both.grid.rows.map { row in
            Ladder.of(
                row, Wording.name(row.text("app_version") ?? ""),
                ["delivered", "received", "received_responded", "received_engaged"])
        }
        sight.add(
            "What differs",
            words(both.grid.rows, pair, scope) + [.words(caution, .note), .sideBySide(ladders), .answer(both)])
        sight.add("Day by day", try trends(pair, state, scope, mine, on: &connection))
        sight.add("By category", try categories(pair, state, scope, on: &connection))
    }

    private static let caution =
        "People choose when they update, and those who do so first are often the eager ones. So a difference need not "
        + "come from the version: look whether it stays day by day, and whether receipt coverage moved with it."

    private static func platform(_ state: PageState) -> Query {
        state.filters[.platform].map { " AND platform = \($0)" } ?? ""
    }

    /// Of versions on several platforms, those of one.
    private static func platforms(_ rows: [Grid.Row], _ state: PageState) -> Sight.Piece? {
        var names: [String] = state.filters[.platform].map { [$0] } ?? []
        for name in rows.compactMap({ $0.text("platform") })
        where !names.contains(where: { ExactName($0) == ExactName(name) }) { names.append(name) }
        guard names.count > 1 || state.filters[.platform] != nil else { return nil }
        return .links(
            [
                Sight.Link(
                    text: "All platforms", address: state.with([.platform: nil]).address,
                    isCurrent: state.filters[.platform] == nil)
            ]
                + names.map { name in
                    Sight.Link(
                        text: Columns.shown(name), address: state.with([.platform: name]).address,
                        isCurrent: state.filters[.platform].map(ExactName.init) == ExactName(name))
                })
    }

    /// Each rate of both, judged together.
    private static func words(_ rows: [Grid.Row], _ pair: Pair, _ scope: Scope) -> [Sight.Piece] {
        func row(_ name: String) -> Grid.Row? {
            rows.first { ExactName($0.text("app_version") ?? "") == ExactName(name) }
        }
        guard let own = row(pair.version), let other = row(pair.against) else {
            let missing = row(pair.version) == nil ? pair.version : pair.against
            return [.words("\(Wording.name(missing)) has no deliveries in these days.")]
        }
        func coverage(_ row: Grid.Row) -> Double? { Rate(row.count("received"), of: row.count("delivered")).value }
        let rates = [
            ("Response rate", "received_responded", "received"), ("Engagement rate", "received_engaged", "received"),
            ("Receipt coverage", "received", "delivered"),
        ].map { title, part, whole in
            let (rate, base) = (
                Rate(own.count(part), of: own.count(whole)), Rate(other.count(part), of: other.count(whole))
            )
            let raw =
                scope.isMostlySettled ? TwoProportions.verdict(rate, against: base) : Significance.unsettled
            let verdict = whole == "received" ? raw.comparing(coverage: coverage(own), with: coverage(other)) : raw
            return (title: title, rate: rate, base: base, verdict: verdict)
        }
        let limit = FalseDiscovery.limit(of: rates.compactMap(\.verdict.tested))
        return rates.map { told in
            .words(
                "\(told.title): \(Wording.percent(told.rate)) with \(Wording.name(pair.version)), "
                    + "\(Wording.percent(told.base)) with \(Wording.name(pair.against)). "
                    + "\(told.verdict.held(to: limit).sentence)")
        }
    }

    private static func trends(
        _ pair: Pair, _ state: PageState, _ scope: Scope, _ mine: Query, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let columns = ["delivered", "response_rate", "engagement_rate", "receipt_coverage"]
        var listing = Listing(
            "trend", "Day by day",
            """
            SELECT day, own.delivered, own.received, own.response_rate, own.engagement_rate, own.receipt_coverage,
                other.delivered AS delivered_against, other.received AS received_against,
                other.response_rate AS response_rate_against, other.engagement_rate AS engagement_rate_against,
                other.receipt_coverage AS receipt_coverage_against
            FROM (
                SELECT day, \(FunnelSQL.sums)
                FROM analytics.version_funnel WHERE \(mine) AND app_version = \(pair.version) GROUP BY day
            ) AS own
            FULL JOIN (
                SELECT day, \(FunnelSQL.sums)
                FROM analytics.version_funnel WHERE \(mine) AND app_version = \(pair.against) GROUP BY day
            ) AS other USING (day)
            ORDER BY day
            """)
        listing.most = DayRange.most
        let answer = try connection.answer(listing, for: state)
        guard !answer.grid.rows.isEmpty else { return [.words("Nothing in these days.", .note), .source(answer)] }
        let rows = Dictionary(
            answer.grid.rows.compactMap { row in row.day("day").map { ($0, row) } },
            uniquingKeysWith: { first, _ in first })
        let titles = ["Deliveries", "Response rate", "Engagement rate", "Receipt coverage"]
        let charts = zip(titles, columns).map { title, column in
            var chart = FunnelParts.trend(
                title, column == "delivered" ? .count : .share, column, answer.grid, scope, .day)
            for place in chart.points.indices {
                chart.points[place].compared = rows[chart.points[place].day]?.number(column + "_against")
            }
            return chart
        }
        return [
            .trends(charts),
            .words(
                "The line is \(Wording.name(pair.version)), the dashed one \(Wording.name(pair.against)). On grey: "
                    + "days that are not settled.",
                .note), .source(answer),
        ]
    }

    private static func categories(
        _ pair: Pair, _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let day = scope.lastWholeDay
        func counts(of version: String, _ ending: Query) -> Query {
            """
            sum(delivered) FILTER (WHERE app_version = \(version)) AS delivered\(ending),
                    sum(received) FILTER (WHERE app_version = \(version)) AS received\(ending),
                    sum(received_engaged) FILTER (WHERE app_version = \(version)) AS received_engaged\(ending)
            """
        }
        var listing = Listing(
            scanned, "Categories of both versions, \(Wording.long(day))",
            """
            SELECT category, received, received_engaged,
                round(received_engaged / nullif(received, 0), 6) AS engagement_rate,
                received_against, received_engaged_against,
                round(received_engaged_against / nullif(received_against, 0), 6) AS engagement_rate_against, delivered,
                    delivered_against
            FROM (
                SELECT category, \(counts(of: pair.version, "")),
                    \(counts(of: pair.against, "_against"))
                FROM analytics.category_version_funnel
                WHERE app = \(state.app ?? "")\(platform(state)) AND day = \(day)
                    AND app_version IN (\(pair.version), \(pair.against))
                GROUP BY category
            ) AS f
            ORDER BY received DESC NULLS LAST, category
            """)
        listing.hidden = ["delivered", "delivered_against", "received_engaged", "received_engaged_against"]
        listing.link = { row, column in
            guard column == "category", let category = row.text("category") else { return nil }
            return state.turned(to: .category).with([.category: category])
        }
        // A list of the page's tables has it, too.
        if state.format == .json, state.table == nil { return [.source(.unread(listing))] }
        guard state.table == scanned else {
            var asked = state
            (asked.table, asked.filters[.version], asked.filters[.against]) = (scanned, pair.version, pair.against)
            return [
                .links([.init(text: "By category on \(Wording.brief(day))", address: asked.address)]),
                .words("This reads every delivery of the day, which takes a moment on a busy one.", .note),
            ]
        }
        let answer = try connection.scanning(listing, for: state)
        let judged = Judged(answer.grid.rows, scope, against: "_against")
        return [.answer(judged.marking(answer, "Difference", higher: "higher", lower: "lower"))]
    }
}

extension VersionsPage {
    /// Which two versions are compared.
    struct Pair {
        let version: String
        let against: String

        var isSame: Bool { ExactName(version) == ExactName(against) }

        /// What the address says; else, of the two with the most deliveries, the newer one against the older one. Nil
        /// if there are none to choose from.
        init?(_ state: PageState, _ names: [String]) {
            let (chosen, other) = (state.filters[.version], state.filters[.against])
            if let chosen, let other {
                (version, against) = (chosen, other)
            } else if let one = chosen ?? other {
                guard let rest = names.first(where: { ExactName($0) != ExactName(one) }) else { return nil }
                (version, against) = chosen == nil ? (rest, one) : (one, rest)
            } else {
                guard names.count > 1 else { return nil }
                let isNewer = Self.isOlder(names[1], than: names[0])
                (version, against) = isNewer ? (names[0], names[1]) : (names[1], names[0])
            }
        }

        /// The versions of the rows, each once, in their order.
        static func names(_ rows: [Grid.Row]) -> [String] {
            var seen: Set<ExactName> = []
            return rows.compactMap { $0.text("app_version") }.filter { seen.insert(ExactName($0)).inserted }
        }

        /// With what was chosen, even if it has no deliveries in these days.
        func choices(of names: [String]) -> [String] {
            let known = Set(names.map(ExactName.init))
            var more = [version, against].filter { !known.contains(ExactName($0)) }
            if more.count == 2, isSame { more.removeLast() }
            return names + more
        }

        /// `4.9.1` is older than `4.10`: numbers count as numbers, and what is none by its letters.
        static func isOlder(_ one: String, than other: String) -> Bool {
            let (parts, others) = (one.split(separator: "."), other.split(separator: "."))
            for (part, against) in zip(parts, others) where part != against {
                if let number = Int(part), let otherNumber = Int(against) {
                    if number != otherNumber { return number < otherNumber }
                } else {
                    return part < against
                }
            }
            return parts.count < others.count
        }
    }
}
