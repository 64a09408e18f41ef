internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// The categories of an app: those with the most deliveries on its own page, all on theirs, with a way to find one.
enum CategoryList {
    /// What one page shows. Whoever looks for a name finds it among all.
    private static let most = 100
    /// What is judged together, shown or not.
    private static let mostJudged = 1000

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        var sight = Sight(
            "Categories", lead: "All categories of \(state.app ?? ""). \(scope.days), \(scope.comparison).", state,
            scope)
        var listing = listing(state, scope)
        listing.most = most
        let found = try connection.answer(listing, for: state)
        guard !state.isFile else {
            sight.add("Categories", [.answer(found)])
            return sight
        }
        // Whoever looks for a name must not change what is judged: of few comparisons, more would pass.
        var judged = found.grid.rows
        if state.search != nil || found.isCut {
            var all = state
            all.search = nil
            judged = try connection.ask(Self.listing(all, scope).query + "\nLIMIT \(Int64(mostJudged))").rows
        }
        let verdicts = Judged(judged, scope)
        sight.add(
            "Categories",
            verdicts.words(state) + [.search(Sight.Search(what: "a category", state: state)), counted(found, state)]
                + [.answer(verdicts.marking(found))])
        return sight
    }

    /// How many were found.
    private static func counted(_ answer: Answer, _ state: PageState) -> Sight.Piece? {
        guard let search = state.search, !answer.isCut else { return nil }
        let count = Wording.count(Int64(answer.grid.rows.count), "category has", "categories have")
        return .words("\(count) “\(String(printable: search))” in the name.", .note)
    }

    /// Those of the app's own page.
    static func short(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let answer = try connection.answer(listing(state, scope), for: state)
        let judged = Judged(answer.grid.rows, scope)
        let list = state.turned(to: .category)
        let whole: [Sight.Piece] =
            answer.isCut
            ? [
                .search(Sight.Search(what: "a category", state: list)),
                .links([.init(text: "All categories", address: list.address)]),
            ] : []
        return judged.words(state) + [.answer(judged.marking(answer))] + whole
    }

    private static func listing(_ state: PageState, _ scope: Scope) -> Listing {
        let app = state.app ?? ""
        let found = FunnelSQL.having(state.search, in: "category")
        var listing = Listing(
            "categories", "Categories, those with the most deliveries first",
            """
            SELECT category, delivered, received, receipt_coverage, received_engaged, engagement_rate,
                engagement_before, delivered_before, received_before, received_engaged_before, by_day
            FROM (
                SELECT category, \(FunnelSQL.sums),
                    \(FunnelSQL.byDay)
                FROM analytics.category_funnel WHERE app = \(app) AND \(FunnelSQL.during(scope.days))\(found)
                    GROUP BY category
            ) AS chosen
            LEFT JOIN (
                SELECT category, sum(delivered) AS delivered_before, sum(received) AS received_before,
                    sum(received_engaged) AS received_engaged_before,
                    round(sum(received_engaged) / nullif(sum(received), 0), 6) AS engagement_before
                FROM analytics.category_funnel WHERE app = \(app) AND \(FunnelSQL.during(scope.compared))
                    GROUP BY category
            ) AS compared USING (category)
            ORDER BY delivered DESC, category
            """)
        listing.bars = ["engagement_rate"]
        listing.spark = "delivered"
        listing.hidden = ["delivered_before", "received_before", "received_engaged_before"]
        listing.none =
            state.search == nil ? "Nothing in these days." : "No category of these days has this in its name."
        listing.link = { row, column in
            guard column == "category", let category = row.text("category") else { return nil }
            return state.with([.category: category], page: .category)
        }
        return listing
    }
}
