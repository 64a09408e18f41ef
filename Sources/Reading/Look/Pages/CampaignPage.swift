internal import Postgres
internal import Reports
internal import Values

/// The campaigns of an app, or one of them: from what was sent to who engaged, its variants and the send delay.
enum CampaignPage {
    private static let counts: Query = """
        sum(sent) AS sent, sum(accepted) AS accepted, sum(fcm_delivered) AS fcm_delivered, \(FunnelSQL.sums)
        """

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        guard let campaign = state.filters[.campaign] else { return try list(state, scope, on: &connection) }
        let app = state.app ?? ""
        var sight = Sight(
            Wording.name(campaign, else: "(no campaign)"),
            lead: "A campaign of \(app). \(scope.days), \(scope.comparison).", state, scope)
        let mine: Query = "app = \(app) AND campaign = \(campaign)"
        let totals = try connection.answer(
            Listing(
                "totals", "The chosen days and those compared",
                FunnelSQL.compared(scope, from: "analytics.campaign_funnel", where: mine)), for: state)
        let sent = try connection.answer(
            Listing(
                "sent", "From sent to engaged",
                "SELECT \(counts), sum(woken) AS woken\nFROM analytics.campaign_funnel WHERE \(mine) AND "
                    + "\(FunnelSQL.during(scope.days))"
            ),
            for: state)
        let goals = Sight.Link(
            text: "Goals after its notifications", address: state.turned(to: .goal).with([.campaign: campaign]).address)
        sight.add(
            "In short",
            FunnelParts.figures(totals, scope) + [silent(sent)] + ladder(sent) + [.source(sent), .links([goals])]
                + Judged.comparable(scope, state))
        sight.add("Variants", try variants(state, scope, mine, on: &connection))
        sight.add(
            "Trends",
            [FunnelParts.steps(state)]
                + (try AppPage.trends(
                    state, scope, from: "analytics.campaign_funnel", where: mine, told: false, on: &connection)))
        var delays = Listing(
            "delays", "From sending to the phone, on \(Wording.long(scope.lastWholeDay))",
            """
            SELECT variant, delayed, negative, median_seconds, p90_seconds
            FROM analytics.send_delays WHERE \(mine) AND day = \(scope.lastWholeDay) ORDER BY delayed DESC, variant
            """)
        delays.none = "Nothing says when the pushes of this day were sent."
        sight.add("Send delay", [.answer(try connection.answer(delays, for: state))])
        return sight
    }

    /// Silent pushes show nothing, so the funnel of what is shown has none of them.
    private static func silent(_ answer: Answer) -> Sight.Piece? {
        guard let row = answer.grid.rows.first, row.count("woken") > 0 else { return nil }
        let woke = "\(Wording.count(row.count("woken"), "silent push", "silent pushes")) of this campaign woke the app."
        return .words(
            row.count("delivered") > 0
                ? "Besides, \(woke) They show nothing and are not counted here."
                : "\(woke) They show nothing, so nobody can answer them: see the view silent_funnel.")
    }

    private static func list(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> Sight {
        var sight = Sight(
            "Campaigns", lead: "What was sent by \(state.app ?? "") and what came of it, \(scope.days).", state, scope)
        sight.scope?.compares = false
        var campaigns = Listing(
            "campaigns", "Campaigns, those with the most deliveries first",
            """
            SELECT campaign, \(counts), sum(woken) AS woken
            FROM analytics.campaign_funnel WHERE app = \(state.app ?? "")
                AND \(FunnelSQL.during(scope.days))\(FunnelSQL.having(state.search, in: "campaign"))
            GROUP BY campaign ORDER BY delivered DESC NULLS LAST, campaign
            """)
        campaigns.bars = ["engagement_rate"]
        campaigns.hidden = ["accepted", "fcm_delivered", "received_responded", "response_rate"]
        campaigns.most = 100
        campaigns.none =
            state.search == nil ? "Nothing in these days." : "No campaign of these days has this in its name."
        campaigns.link = { row, column in
            guard column == "campaign", let campaign = row.text("campaign") else { return nil }
            return state.with([.campaign: campaign])
        }
        let answer = try connection.answer(campaigns, for: state)
        let isAnySilent = answer.grid.rows.contains { $0.count("woken") > 0 }
        sight.add(
            "Campaigns",
            [
                .search(Sight.Search(what: "a campaign", state: state)), .answer(answer),
                isAnySilent
                    ? .words(
                        "A silent push shows nothing and wakes the app: "
                            + "it counts under Woken, and never as delivered or "
                            + "received. A campaign of silent pushes alone has 0 delivered and has not failed.", .note)
                    : nil,
            ])
        return sight
    }

    /// The steps that are known; the first of them is the whole.
    private static func ladder(_ answer: Answer) -> [Sight.Piece] {
        guard let row = answer.grid.rows.first, row.count("delivered") > 0 || row["sent"] != nil else { return [] }
        let steps = [
            "sent", "accepted", "fcm_delivered", "delivered", "received", "received_responded", "received_engaged",
        ]
        .filter { row[$0] != nil }
        return [.block(.ladder(Ladder.of(row, "From sent to engaged", steps)))]
    }

    private static func variants(
        _ state: PageState, _ scope: Scope, _ mine: Query, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        var listing = Listing(
            "variants", "Variants, those with the most deliveries first",
            """
            SELECT variant, \(counts)
            FROM analytics.campaign_funnel WHERE \(mine) AND \(FunnelSQL.during(scope.days))
            GROUP BY variant ORDER BY delivered DESC NULLS LAST, variant
            """)
        listing.hidden = ["accepted", "fcm_delivered"]
        listing.bars = ["engagement_rate"]
        listing.link = { row, column in
            guard let flag = DeliveriesPage.flag(of: column), let variant = row.text("variant") else { return nil }
            return state.with([.variant: variant, .flag: flag.isEmpty ? nil : flag], page: .deliveries)
        }
        let answer = try connection.answer(listing, for: state)
        let tests = VariantTest.compare(
            answer.grid.rows.map { row in
                (name: row.text("variant") ?? "", rate: Rate(row.count("received_engaged"), of: row.count("received")))
            }, isSettled: scope.isMostlySettled)
        return [.answer(answer)]
            + VariantTest.told(tests, "of the deliveries with a receipt, those that engaged were")
    }
}
