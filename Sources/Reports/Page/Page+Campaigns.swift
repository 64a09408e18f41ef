extension Page {
    static func campaigns(_ report: Report) -> Section? {
        let told = report.campaigns.filter { $0.isToldFromTheSend && !report.isSilent($0) }
        let isTold = !told.isEmpty
        guard isTold || report.campaigns.contains(where: { !$0.name.isEmpty }) else { return nil }
        var blocks: [Block] = report.campaigns.flatMap { campaign in
            campaign.contradictions.map {
                .sentence(
                    "\(Wording.name(campaign.name, else: none)): \(words(for: $0)). These numbers contradict one another.",
                    .alarm)
            }
        }
        if isTold { blocks += fromTheSend(told) }
        let delivered = report.campaigns.filter { $0.counts.delivered > 0 }
        if !delivered.isEmpty {
            blocks += funnels(
                "All campaigns", "Campaign", none: none,
                of: delivered.map { Report.Named(name: $0.name, counts: $0.counts) })
        }
        return Section("Campaigns", blocks)
    }

    private static let none = "(no campaign)"

    /// `delivered over sent` as `more delivered than sent`.
    private static func words(for contradiction: String) -> String {
        let parts = contradiction.replacing("fcm_delivered", with: "delivered by FCM").replacing(
            "accepted", with: "accepted by FCM"
        ).split(separator: " over ")
        return parts.count == 2 ? "more \(parts[0]) than \(parts[1])" : contradiction
    }

    /// What came before the phone, in the columns of which anything is known.
    private static func fromTheSend(_ campaigns: [CampaignSummary]) -> [Block] {
        let stages: [(title: String, count: (CampaignSummary) -> Int64?)] = [
            ("Sent", { $0.sent }), ("FCM accepted", { $0.accepted }), ("FCM delivered", { $0.fcmDelivered }),
        ].filter { stage in campaigns.contains { stage.count($0) != nil } }
        var columns = [Table.Column.name("Campaign")] + stages.map { .number($0.title) } + [.number("Delivered")]
        let isSentKnown = campaigns.contains { $0.sent != nil }
        if isSentKnown { columns.append(.bar("Of sent")) }
        let table = Table("From the send to the phone", columns: columns, of: campaigns) { campaign in
            let tone: Tone = campaign.contradictions.isEmpty ? .plain : .alarm
            var cells = [Table.Cell(Wording.name(campaign.name, else: none), tone: tone)]
            cells += stages.map { Table.Cell($0.count(campaign).map(Wording.count) ?? "–") }
            cells.append(Table.Cell(Wording.count(campaign.counts.delivered)))
            if isSentKnown {
                cells.append(
                    Table.Cell(Wording.percent(campaign.deliveryRate), share: campaign.deliveryRate.map { min($0, 1) }))
            }
            return cells
        }
        return [
            .table(table),
            .sentence(
                "A send counts on its own day, a delivery on that of its first event; what came and left no trace is not "
                    + "among the delivered.", .note),
        ]
    }
}

extension Report {
    /// Whether a campaign is one of silent pushes, which are told of where those are.
    fileprivate func isSilent(_ campaign: CampaignSummary) -> Bool {
        campaign.counts.delivered == 0 && silent.contains { ExactName($0.campaign) == ExactName(campaign.name) }
    }
}
