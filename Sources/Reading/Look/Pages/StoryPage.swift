internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// The stories of an app, or those of one campaign: the ladder of pages of each variant, side by side, and what fell
/// back.
enum StoryPage {
    private static let counts: Query = """
        sum(stories) AS stories, sum(started) AS started, sum(completed) AS completed,
            sum(exit_clicked) AS exit_clicked, sum(exit_finished) AS exit_finished,
            sum(exit_fallback) AS exit_fallback, sum(exit_abandoned) AS exit_abandoned,
            round(sum(completed) / nullif(sum(started), 0), 6) AS completion_rate,
            round(sum(exit_fallback) / nullif(sum(stories), 0), 6) AS fallback_rate
        """

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        guard let campaign = state.filters[.campaign] else { return try list(state, scope, on: &connection) }
        let app = state.app ?? ""
        var sight = Sight(
            Wording.name(campaign, else: "(no campaign)"),
            lead: "A story of \(app). \(scope.days), \(scope.comparison).", state, scope)
        let any: Query = "app = \(app) AND campaign = \(campaign)"
        let mine: Query = "\(any) AND \(FunnelSQL.during(scope.days))"
        var variants = Listing(
            "variants", "Variants: how their stories ended",
            "SELECT variant, \(counts)\nFROM analytics.story_funnel WHERE \(mine) GROUP BY variant ORDER BY stories "
                + "DESC, variant"
        )
        variants.bars = ["completion_rate"]
        variants.none = "No story of this campaign in these days."
        variants.link = { row, column in
            let flags = [
                "started": "story_started", "exit_fallback": "fell_back", "exit_clicked": "story_action_tapped",
            ]
            guard let flag = flags[column], let variant = row.text("variant") else { return nil }
            return state.with([.variant: variant, .flag: flag], page: .deliveries)
        }
        var pages = Listing(
            "pages", "Pages from 1, of the \(VariantLadders.most) variants with the most stories",
            """
            SELECT variant, page_index, max(page_title) AS page_title, sum(planned) AS planned, sum(reached) AS reached,
                sum(shown) AS shown, sum(clicked) AS clicked, sum(exited) AS exited,
                round(sum(clicked) / nullif(sum(shown), 0), 6) AS click_rate,
                round(sum(dwell_ms) / nullif(sum(dwells), 0) / 1000, 1) AS mean_dwell_seconds
            FROM analytics.story_page_funnel AS p
            JOIN (
                SELECT variant, sum(stories) AS stories FROM analytics.story_funnel WHERE \(mine)
                GROUP BY variant ORDER BY stories DESC, variant LIMIT \(Int64(VariantLadders.most))
            ) AS v USING (variant)
            WHERE \(mine)
            GROUP BY v.stories, variant, page_index ORDER BY v.stories DESC, variant, page_index
            """)
        pages.most = 150
        let (ended, shown) = (try connection.answer(variants, for: state), try connection.answer(pages, for: state))
        let totals = try totals(state, scope, where: any, on: &connection)
        sight.add("In short", [.answer(totals), fallback(totals.grid)])
        sight.add("How its stories ended", [.answer(ended)] + tests(ended.grid, scope))
        // The last of a table that was cut may lack pages.
        let ladders = VariantLadders.of(shown.grid)
        sight.add(
            "Page by page",
            [.sideBySide(shown.isCut && ladders.count > 1 ? ladders.dropLast() : ladders), .answer(shown)])
        return sight
    }

    /// The chosen days and those that they are compared with.
    private static func totals(
        _ state: PageState, _ scope: Scope, where condition: Query, on connection: inout Connection
    ) throws(PostgresError) -> Answer {
        var listing = Listing(
            "totals", "The chosen days and those compared",
            FunnelSQL.compared(scope, counts, from: "analytics.story_funnel", where: condition))
        listing.bars = ["completion_rate"]
        return try connection.answer(listing, for: state)
    }

    /// All campaigns with stories.
    private static func list(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> Sight {
        var sight = Sight(
            "Stories", lead: "What became of the stories of \(state.app ?? ""). \(scope.days), \(scope.comparison).",
            state, scope)
        let any: Query = "app = \(state.app ?? "")"
        sight.add("In short", [.answer(try totals(state, scope, where: any, on: &connection))])
        var stories = Listing(
            "stories", "Campaigns with stories, those with the most first",
            """
            SELECT campaign, \(counts)
            FROM analytics.story_funnel WHERE app = \(state.app ?? "")
                AND \(FunnelSQL.during(scope.days))\(FunnelSQL.having(state.search, in: "campaign"))
            GROUP BY campaign ORDER BY stories DESC, campaign
            """)
        stories.bars = ["completion_rate"]
        stories.most = 100
        stories.none =
            state.search == nil ? "No story in these days." : "No campaign with stories has this in its name."
        stories.link = { row, column in
            guard column == "campaign", let campaign = row.text("campaign") else { return nil }
            return state.with([.campaign: campaign])
        }
        sight.add(
            "Stories",
            [
                .search(Sight.Search(what: "a campaign with stories", state: state)),
                .answer(try connection.answer(stories, for: state)),
            ])
        return sight
    }

    /// Clicks among the stories that were started, variant against variant.
    private static func tests(_ grid: Grid, _ scope: Scope) -> [Sight.Piece] {
        let rates = grid.rows.map { row in
            (name: row.text("variant") ?? "", rate: Rate(row.count("exit_clicked"), of: row.count("started")))
        }
        return VariantTest.told(
            VariantTest.compare(rates, isSettled: scope.isMostlySettled),
            "of the stories that started, its call to action was tapped in")
    }

    /// A story that falls back shows no pages, so nobody can tap its call to action.
    private static func fallback(_ grid: Grid) -> Sight.Piece? {
        guard let chosen = grid.rows.first(where: { $0.text("days") == "chosen" }) else { return nil }
        let sum = { (column: String) in chosen.count(column) }
        let (fell, started, clicked) = (sum("exit_fallback"), sum("started"), sum("exit_clicked"))
        guard fell > 0 else { return nil }
        let words =
            "\(Wording.count(fell, "story", "stories")) of \(Wording.count(sum("stories"))) fell "
            + "back and showed no page."
        guard started > 0, clicked > 0 else { return .words(words) }
        let lost = Int64(saturating: (Double(fell) * Double(clicked) / Double(started)).rounded())
        return .words(
            "\(words) At the click rate of those that started (\(Wording.percent(Rate(clicked, of: started).value))), "
                + "this cost about \(Wording.count(lost, "click", "clicks")).")
    }
}

/// The pages of each variant as a ladder.
enum VariantLadders {
    static let most = 6

    static func of(_ grid: Grid) -> [Ladder] {
        var variants: [(name: String, rows: [Grid.Row])] = []
        for row in grid.rows {
            let name = row.text("variant") ?? ""
            if let last = variants.last, ExactName(last.name) == ExactName(name) {
                variants[variants.count - 1].rows.append(row)
            } else {
                variants.append((name, [row]))
            }
        }
        return variants.map { name, rows in
            let caption =
                name.isEmpty && variants.count == 1
                ? "Pages reached" : "Pages reached, \(Wording.name(name, else: "no variant"))"
            let base = Double(max(rows.first?.count("planned") ?? 0, 1))
            let steps = rows.map { row in
                let title = row.text("page_title").map { " · \($0)" } ?? ""
                return Ladder.Step(
                    "\(row.count("page_index") + 1)\(title)", value: row.count("reached"),
                    share: Double(row.count("reached")) / base)
            }
            let table = Table(
                caption, columns: [.name("Page"), .number("Reached"), .number("Clicked"), .number("Left here")],
                rows: rows.map { row in
                    [
                        Table.Cell("\(row.count("page_index") + 1)"), Table.Cell(Wording.count(row.count("reached"))),
                        Table.Cell(Wording.count(row.count("clicked"))), Table.Cell(Wording.count(row.count("exited"))),
                    ]
                })
            return Ladder(caption, steps: steps, table: table)
        }
    }
}

extension VariantTest {
    /// Each comparison in a sentence. Of many, those that found a difference.
    static func told(_ tests: [VariantTest], _ what: String) -> [Sight.Piece] {
        let told = tests.count <= 3 ? tests : tests.filter { [1, -1].contains($0.verdict.sign) }
        let rest = tests.count - told.count
        return told.map { .words($0.words(what), .note) }
            + (rest == 0
                ? []
                : [
                    .words(
                        "Of \(Wording.count(Int64(tests.count), "comparison", "comparisons")) between two variants, "
                            + "\(Wording.count(Int64(rest))) show no difference beyond chance, "
                            + "or have too few to tell.",
                        .note)
                ])
    }

    /// `B against A: of the deliveries received, 12.0 % and 10.0 % …`
    func words(_ what: String) -> String {
        "\(Wording.name(variant, else: "(no variant)")) against \(Wording.name(base, else: "(no variant)")): \(what) "
            + "\(Wording.percent(rate)) and \(Wording.percent(baseRate)); the true difference is "
            + "\(Wording.interval(points: interval)). \(verdict.sentence)"
    }
}
