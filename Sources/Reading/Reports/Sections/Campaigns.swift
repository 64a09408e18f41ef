internal import Postgres
internal import Telemetry

/// One campaign on the day, from the send to the response, with all its variants.
struct CampaignSummary: Hashable, Sendable {
    /// '' for deliveries without a campaign.
    var name: String
    var counts: FunnelCounts
    /// Recipients of the day's sends; nil if no send of it was reported.
    var sent: Int64?
    /// Messages that FCM accepted on the day, and that it says it delivered; nil if not reported.
    var accepted: Int64?
    var fcmDelivered: Int64?
    /// Which of these numbers contradict one another: `delivered over sent`.
    var contradictions: [String] = []
    /// Silent pushes of it that woke the app. What was sent includes them, so nothing is a share of it.
    var woken: Int64 = 0
    /// The variants with deliveries, the most deliveries first; empty if there are not several.
    var variants: [CampaignVariant] = []
    /// Of the variants that `variants` leaves out; nil if there are none.
    var otherVariants: RestOfList<FunnelCounts>?
    /// The verdicts of `tests`, as they were held with all others of the report; empty before.
    var variantVerdicts: [Significance] = []

    /// What contradicts something among its rows, as far as it is one by the sums. A send counts on its own day and a
    /// delivery on the day of its first event, so a few more delivered than sent may be those of a send before
    /// midnight.
    fileprivate func contradictions(told: String, isOverSent: Bool, in period: Period) -> [String] {
        let overSent = "delivered over sent"
        let others = Set(told.split(separator: ", ").map(String.init)).subtracting([overSent])
        let spill = (sent ?? 0) / 20
        let isOver = isOverSent && counts.delivered - (sent ?? 0) > spill
        // Of a week only sums are compared: one of its days may lack what another has.
        guard case .day = period else { return isOver ? [overSent] : [] }
        return (Array(others) + (isOver || told.contains(overSent) && !isOverSent ? [overSent] : [])).sorted()
    }

    /// Whether a variant contradicts itself, and all variants together do not.
    fileprivate func isOnlyOfVariant(_ contradiction: String) -> Bool {
        contradiction == "delivered over sent" && counts.delivered <= (sent ?? 0)
    }

    /// Whether anything is known from before the phone.
    var isToldFromTheSend: Bool { sent != nil || accepted != nil || fcmDelivered != nil }
    /// Over one if a send reported fewer recipients than there were deliveries; nil for a campaign with silent pushes.
    var deliveryRate: Double? { woken > 0 ? nil : share(counts.delivered, of: sent) }

    fileprivate func share(_ part: Int64?, of whole: Int64?) -> Double? {
        guard let part, let whole else { return nil }
        return Rate(part, of: whole).value
    }
}

/// What was sent, what FCM accepted and delivered, and what became of it, by campaign.
enum CampaignsSection: ReportSection {
    static let none = "(no campaign)"
    /// The number of campaigns whose variants people read. JSON and CSV have all of them.
    private static let mostWithVariants = 6
    /// Variants that fewer received are not worth a line.
    private static let leastCompared: Int64 = 10

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        // Whether more was delivered than sent is decided by variant if the sends of the variant are known, and for all
        // variants together if a send may have been for any of them.
        let rows = try connection.query(
            """
            WITH ranked AS MATERIALIZED (
                SELECT campaign, row_number() OVER (
                    ORDER BY sum(delivered) DESC, sum(sent) DESC NULLS LAST, campaign COLLATE "C") AS place
                FROM analytics.campaign_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day) GROUP BY campaign
            ), named AS MATERIALIZED (
                SELECT campaign, CASE WHEN place <= \(scope.bound.entries) THEN place END AS place FROM ranked
            )
            SELECT * FROM (
            SELECT CASE WHEN place IS NOT NULL THEN min(campaign COLLATE "C") END, \(sql: FunnelCounts.sums),
                CASE WHEN sum(sent) > 9223372036854775807 THEN 9223372036854775807 ELSE sum(sent) END::bigint,
                sum(accepted)::bigint, sum(fcm_delivered)::bigint,
                coalesce(string_agg(DISTINCT contradiction, ', '), ''),
                coalesce(
                    sum(delivered) > sum(sent)
                        AND (bool_or(variant = '' AND sent IS NOT NULL) OR bool_and(sent IS NOT NULL OR delivered = 0)),
                    false),
                CASE WHEN grouping(variant) = 0 THEN variant END, sum(woken)::bigint,
                count(DISTINCT campaign) FILTER (
                    WHERE delivered > 0 OR sent IS NOT NULL OR accepted IS NOT NULL OR fcm_delivered IS NOT NULL),
                count(DISTINCT variant) FILTER (WHERE delivered > 0),
                row_number() OVER (
                    PARTITION BY place, grouping(variant)
                    ORDER BY sum(delivered) DESC, sum(sent) DESC NULLS LAST, variant COLLATE "C") AS variant_place,
                row_number() OVER (
                    ORDER BY sum(delivered) DESC, sum(sent) DESC NULLS LAST,
                        CASE WHEN place IS NOT NULL THEN min(campaign COLLATE "C") END, variant COLLATE "C") AS turn
            FROM analytics.campaign_funnel JOIN named USING (campaign)
            WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY GROUPING SETS ((place), (place, variant)) HAVING place IS NOT NULL OR grouping(variant) = 1
            ) AS told WHERE variant_place <= \(scope.bound.parts) ORDER BY turn
            """)
        var variants: [ExactName: [CampaignVariant]] = [:]
        var variantsOfAll: [Int64] = []
        var summaries: [CampaignSummary] = []
        for row in rows {
            let counts = try FunnelCounts(row, from: 1)
            let rest = 1 + FunnelCounts.width
            guard let name: String = try row.optional(0) else {
                let others = RestOfList(entries: try row.get(rest + 7), counts: counts)
                report.otherCampaigns = others.entries > 0 ? others : nil
                continue
            }
            if let variant: String = try row.optional(rest + 5) {
                if counts.delivered > 0 {
                    variants[ExactName(name), default: []].append(CampaignVariant(name: variant, counts: counts))
                }
                continue
            }
            var summary = CampaignSummary(
                name: name, counts: counts, sent: try row.optional(rest), accepted: try row.optional(rest + 1),
                fcmDelivered: try row.optional(rest + 2), woken: try row.get(rest + 6))
            summary.contradictions = summary.contradictions(
                told: try row.get(rest + 3), isOverSent: try row.get(rest + 4), in: report.period)
            summaries.append(summary)
            variantsOfAll.append(try row.get(rest + 8))
        }
        for place in summaries.indices {
            let own = variants[ExactName(summaries[place].name)] ?? []
            summaries[place].variants = own.count > 1 ? own : []
            let leftOut = variantsOfAll[place] - Int64(own.count)
            if leftOut > 0 {
                let listed = own.reduce(FunnelCounts()) { $0 + $1.counts }
                summaries[place].otherVariants = RestOfList(entries: leftOut, counts: summaries[place].counts - listed)
            }
        }
        let campaigns =
            summaries
            // FCM's data messages have rows too.
            .filter { $0.counts.delivered > 0 || $0.isToldFromTheSend }
        // Days that were sealed before this funnel existed are missing from it.
        let isWhole =
            campaigns.reduce(0) { $0 + $1.counts.delivered } + (report.otherCampaigns?.counts.delivered ?? 0)
            == report.headline.counts.delivered
        report.campaigns = report.isSealed && !isWhole ? [] : campaigns
        if report.campaigns.isEmpty { report.otherCampaigns = nil }
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        for place in report.campaigns.indices where report.campaigns[place].variants.count > 1 {
            var verdicts = report.campaigns[place].tests(in: report).map(\.verdict)
            for index in verdicts.indices { visit(&verdicts[index]) }
            report.campaigns[place].variantVerdicts = verdicts
        }
    }

    static func deeds(_ report: Report) -> [Deed] {
        report.campaigns.flatMap { campaign -> [Deed] in
            let name = Wording.name(campaign.name, else: none)
            let wrong = campaign.contradictions.map { contradiction in
                Deed(
                    urgency: .broken, deliveries: campaign.counts.delivered,
                    ask: "Check what reports the sends of \(name)",
                    why: campaign.isOnlyOfVariant(contradiction)
                        ? "of one of its variants, \(words(for: contradiction))"
                        : "\(words(for: contradiction)), with \(Wording.count(campaign.counts.delivered)) delivered"
                            + (campaign.sent.map { " of \(Wording.count($0)) sent" } ?? ""),
                    section: "Campaigns", subject: .campaign(campaign.name))
            }
            let rate = report.leadsWithEngagement ? "engagement" : "response"
            // The best variant stands first, and is the one to send only if it is better than each of the others.
            let tests = campaign.variants.count > 1 ? campaign.tests(in: report) : []
            let best = tests.filter { test in tests.first.map { ExactName($0.variant) } == ExactName(test.variant) }
            guard let test = best.first, best.allSatisfy({ if case .higher = $0.verdict { true } else { false } })
            else {
                return wrong
            }
            let winner = Wording.name(test.variant, else: CampaignVariant.none)
            let loser = Wording.name(test.base, else: CampaignVariant.none)
            return wrong + [
                Deed(
                    urgency: .better, deliveries: campaign.counts.delivered,
                    ask: "Send variant \(winner) of \(name)",
                    why:
                        "its \(rate) rate is \(Wording.percent(test.rate)), and that of "
                        + "\(loser) \(Wording.percent(test.baseRate))", section: "Campaigns",
                    subject: .campaign(campaign.name))
            ]
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        // Campaigns of silent pushes are shown with the silent pushes.
        let silent = Set(report.silent.map { ExactName($0.campaign) })
        let told = report.campaigns.filter {
            $0.isToldFromTheSend && ($0.counts.delivered > 0 || !silent.contains(ExactName($0.name)))
        }
        guard !told.isEmpty || report.campaigns.contains(where: { !$0.name.isEmpty }) else { return nil }
        var blocks: [Block] = report.campaigns.flatMap { campaign in
            campaign.contradictions.map {
                .sentence(
                    "\(Wording.name(campaign.name, else: none)): \(words(for: $0)). "
                        + "These numbers contradict one another.",
                    .alarm)
            }
        }
        if !told.isEmpty { blocks += fromTheSend(told) }
        let delivered = report.campaigns.filter { $0.counts.delivered > 0 }
        if !delivered.isEmpty {
            blocks += Block.funnels(
                "All campaigns", "Campaign", none: none, leadingWithEngagement: report.leadsWithEngagement,
                of: delivered.map { ($0.name, $0.counts, report.dismissals.areReported(ofCampaign: $0.name)) })
            blocks += RestOfList.words(report.otherCampaigns, "campaign", "campaigns")
            blocks += delivered.filter { $0.variants.count { $0.counts.received >= leastCompared } > 1 }
                .prefix(mostWithVariants)
                .flatMap { $0.variantBlocks(Wording.name($0.name, else: none), in: report) }
        }
        return Page.Section("Campaigns", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("campaigns", report.campaigns) { campaign in
            let sends: [Fact] = [
                .count("sent", campaign.sent), .count("accepted", campaign.accepted),
                .count("fcm_delivered", campaign.fcmDelivered),
            ]
            let rates: [Fact] = [
                .number("accept_rate", campaign.share(campaign.accepted, of: campaign.sent)),
                .number("fcm_delivery_rate", campaign.share(campaign.fcmDelivered, of: campaign.accepted)),
                .number("delivery_rate", campaign.deliveryRate), .count("woken", campaign.woken),
                .texts("contradictions", campaign.contradictions),
            ]
            return Entry(
                keys: [.text("campaign", campaign.name)], facts: sends + campaign.counts.facts + rates,
                lists: campaign.variantLists(in: report))
        } + RestOfList.facts("other_campaigns", report.otherCampaigns)
    }

    /// `delivered over sent` as `more delivered than sent`.
    private static func words(for contradiction: String) -> String {
        let parts = contradiction.replacing("fcm_delivered", with: "delivered by FCM").replacing(
            "accepted", with: "accepted by FCM"
        ).split(separator: " over ")
        return parts.count == 2 ? "more \(parts[0]) than \(parts[1])" : contradiction
    }

    /// What happened before the phone, in the columns of which anything is known.
    private static func fromTheSend(_ campaigns: [CampaignSummary]) -> [Block] {
        let stages: [(title: String, count: (CampaignSummary) -> Int64?)] = [
            ("Sent", { $0.sent }), ("FCM accepted", { $0.accepted }), ("FCM delivered", { $0.fcmDelivered }),
        ].filter { stage in campaigns.contains { stage.count($0) != nil } }
        let isSentKnown = campaigns.contains { $0.sent != nil }
        let table = Table("From the send to the phone", of: campaigns) { campaign in
            let (rate, tone): (Double?, Tone) = (
                campaign.deliveryRate, campaign.contradictions.isEmpty ? .plain : .alarm
            )
            return [.name("Campaign", campaign.name, else: none, tone: tone)]
                + stages.map { .number($0.title, $0.count(campaign).map(Wording.count) ?? "–") }
                + [.count("Delivered", campaign.counts.delivered)]
                + (isSentKnown ? [.bar("Of sent", Wording.percent(rate), share: rate.map { min($0, 1) })] : [])
        }
        return [
            .table(table),
            .sentence(
                "A send counts on its own day, and a delivery on the day of its first event. Pushes that arrived but "
                    + "left no trace are not counted as delivered.", .note),
        ]
    }
}
