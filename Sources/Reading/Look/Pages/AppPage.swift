internal import Postgres
internal import Reports
internal import Values

/// One app: its trends, what rose and fell, its categories and versions.
enum AppPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let app = state.app ?? ""
        var sight = Sight(
            app,
            lead:
                "\(scope.days), \(scope.comparison). Days run from midnight to midnight, \(scope.timeZone) time.",
            state, scope)
        let mine: Query = "app = \(app)"
        let totals = try connection.answer(
            Listing(
                "totals", "The chosen days and those compared",
                FunnelSQL.compared(scope, from: "analytics.category_funnel", where: mine)), for: state)
        sight.add("What to do", try ToDoPart.read(state, scope, on: &connection))
        sight.add(
            "In short",
            FunnelParts.figures(totals, scope) + [
                FunnelParts.ladder(totals, caption: "From delivered to engaged"), reportLink(state, scope),
            ])
        sight.add(
            "Trends",
            [FunnelParts.steps(state)]
                + (try trends(state, scope, from: "analytics.category_funnel", where: mine, on: &connection)))
        sight.add("Categories", try CategoryList.short(state, scope, on: &connection))
        let experiments = try ExperimentPage.list(state, most: 5, on: &connection)
        if !experiments.grid.rows.isEmpty { sight.add("Experiments", [.answer(experiments)]) }
        let versions = try connection.answer(versions(state, scope), for: state)
        let compare = Sight.Link(text: "Two versions side by side", address: state.turned(to: .versions).address)
        sight.add("Versions", [.answer(versions), .links([compare])])
        return sight
    }

    /// Day by day or week by week, and the days compared if somebody chose them.
    static func trends(
        _ state: PageState, _ scope: Scope, from view: Query, where condition: Query, told: Bool = true,
        on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let query =
            state.step == .day
            ? FunnelSQL.trend(scope, from: view, where: condition, told: told ? state.app : nil)
            : FunnelSQL.weeks(scope, from: view, where: condition)
        var listing = Listing("trend", state.step == .day ? "Day by day" : "Week by week", query)
        listing.most = DayRange.most
        listing.hidden = [
            "delivered_low", "delivered_high", "response_low", "response_high", "engagement_low", "engagement_high",
            "coverage_low", "coverage_high", "told_received",
        ]
        if state.step == .week { listing.meanings["day"] = "Monday of the week" }
        listing.link = { row, column in
            guard column == "delivered", state.step == .day, let day = row.day("day") else { return nil }
            return state.with([:], page: .deliveries).at(day, of: scope.days)
        }
        let answer = try connection.answer(listing, for: state)
        var compared: Answer?
        if state.compared != nil, state.step == .day, !state.isFile {
            var earlier = scope
            earlier.days = scope.compared
            compared = try connection.answer(
                Listing("compared", "Days compared", FunnelSQL.trend(earlier, from: view, where: condition, told: nil)),
                for: state)
        }
        return FunnelParts.trends(answer, scope, state, compared: compared)
    }

    private static func reportLink(_ state: PageState, _ scope: Scope) -> Sight.Piece {
        var reports = state.turned(to: .reports)
        reports.days = scope.days
        return .links([
            .init(text: "The reports on these days, as they were told", address: reports.address)
        ])
    }

    static func versions(_ state: PageState, _ scope: Scope, on platform: String? = nil) -> Listing {
        let narrowed: Query = platform.map { " AND platform = \($0)" } ?? ""
        var listing = Listing(
            "versions", "Versions of the app, those with the most deliveries first",
            """
            SELECT platform, app_version, \(FunnelSQL.sums)
            FROM analytics.version_funnel WHERE app = \(state.app ?? "") AND \(FunnelSQL.during(scope.days))\(narrowed)
            GROUP BY platform, app_version ORDER BY delivered DESC, platform, app_version
            """)
        listing.most = 12
        listing.link = { row, column in
            guard column == "delivered", let version = row.text("app_version") else { return nil }
            return state.with([.version: version, .platform: row.text("platform")], page: .deliveries)
        }
        return listing
    }
}

/// Which rows of a table rose or fell by more than chance, all of them judged together.
struct Judged {
    let verdicts: [Significance?]
    /// So many names stand in a sentence.
    private static let mostNamed = 10
    private let rows: [Grid.Row]
    private let scope: Scope

    /// `against` ends the names of the columns compared with: other days, or others in the same days.
    init(_ rows: [Grid.Row], _ scope: Scope, against: String = "_before") {
        let isComparable = scope.isComparable || against != "_before"
        (self.rows, self.scope) = (rows, scope)
        let raw: [Significance?] = rows.map { row in
            let rate = Rate(row.count("received_engaged"), of: row.count("received"))
            let base = Rate(row.count("received_engaged" + against), of: row.count("received" + against))
            guard rate.whole > 0, base.whole > 0, isComparable else { return nil }
            guard scope.isMostlySettled else { return .unsettled }
            return TwoProportions.verdict(rate, against: base).comparing(
                coverage: Rate(row.count("received"), of: row.count("delivered")).value,
                with: Rate(row.count("received" + against), of: row.count("delivered" + against)).value)
        }
        let limit = FalseDiscovery.limit(of: raw.compactMap { $0?.tested })
        verdicts = raw.map { $0?.held(to: limit) }
    }

    /// What rose and what fell, or why nobody can tell.
    func words(_ state: PageState) -> [Sight.Piece] {
        guard !rows.isEmpty else { return [] }
        guard scope.isMostlySettled else {
            let words = "What rose and what fell is not judged: too many of these days still change."
            guard scope.firstOpenDay > scope.days.first else { return [.words(words, .note)] }
            let settled = DayRange(scope.days.first, scope.firstOpenDay.advanced(by: -1))
            return [
                .words(words, .note),
                .links([.init(text: "Only the days that have settled", address: state.over(settled).address)]),
            ]
        }
        guard scope.isComparable else {
            return [.words("What rose and what fell is not judged: the days are \(scope.comparison).", .note)]
                + Self.comparable(scope, state)
        }
        let judged = verdicts.count { $0?.tested != nil }
        guard judged > 0 else {
            return [.words("No category has enough deliveries in both ranges to tell whether it rose or fell.", .note)]
        }
        func names(_ sign: Int64) -> String {
            let names = zip(rows, verdicts).filter { $1?.sign == sign }.map {
                Wording.name($0.0.text("category") ?? "")
            }
            let more = names.count - Self.mostNamed
            return names.prefix(Self.mostNamed).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        }
        let (rose, fell) = (names(1), names(-1))
        let words = [
            rose.isEmpty ? "" : "Engagement rose by more than chance: \(rose).",
            fell.isEmpty ? "" : "Engagement fell by more than chance: \(fell).",
        ].filter { !$0.isEmpty }
        if words.isEmpty {
            return [
                .words(
                    "Of \(Wording.count(Int64(judged), "category", "categories")) that can be judged, "
                        + "none moved by more than chance.",
                    .note)
            ]
        }
        return words.map { .words($0) }
    }

    /// Where fewer days can be compared.
    static func comparable(_ scope: Scope, _ state: PageState) -> [Sight.Piece] {
        scope.comparable.map { days in
            let what =
                days.count == 1 ? "The last day with the one before" : "The last \(days.count) days with those before"
            return [.links([.init(text: what, address: state.over(days).address)])]
        } ?? []
    }

    /// The categories' table with a column that says whether each rose or fell by more than chance.
    func marking(
        _ answer: Answer, _ title: String = "Change", higher: String = "rose", lower: String = "fell"
    ) -> Answer {
        var listing = answer.listing
        let verdicts = Dictionary(
            zip(rows, verdicts).map { (ExactName($0.text("category") ?? ""), $1) },
            uniquingKeysWith: { first, _ in first })
        listing.added.append { row in
            let cell: Table.Cell
            switch verdicts[ExactName(row.text("category") ?? "")] ?? nil {
            case .higher?: cell = Table.Cell(higher, tone: .good)
            case .lower?: cell = Table.Cell(lower, tone: .alarm)
            case .likeChance?: cell = Table.Cell("within chance", tone: .note)
            case .smallSample?, .divided?: cell = Table.Cell("too few", tone: .note)
            case .unsettled?: cell = Table.Cell("too early", tone: .note)
            case .otherCoverage?, .beyondWhole?: cell = Table.Cell("other coverage", tone: .note)
            case nil: cell = Table.Cell("–", tone: .note)
            }
            return (title, cell)
        }
        return Answer(listing: listing, grid: answer.grid, isCut: answer.isCut)
    }
}
