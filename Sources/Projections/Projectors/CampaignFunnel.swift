/// Per (app, day, campaign, variant): what became of the notifications of a campaign. Its view puts what was sent beside it.
enum CampaignFunnel: Projector {
    static let name = "campaign_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: [
                .word(
                    "campaign",
                    """
                    Campaign, '' for none. Messages of the export are of the campaign of a known delivery of theirs, else of the \
                    send that names them, else of the one campaign that all sends with their analytics label have, else of that \
                    label. A send without a campaign goes by its label too
                    """),
                .word("variant", "Variant of the campaign, '' for none; found as the campaign is"),
            ],
            columns: DeliveryCounts.columns + DeliveryCounts.rates, view: .byHand,
            recount: .init(
                DeliveryCounts.recount(by: "campaign, variant"),
                behind: "\(sameDay) AND d.campaign = cell.campaign AND d.variant = cell.variant AND \(noneSilent)"))
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            DeliveryCounts.bits(of: facts.flags), times: weight,
            at: [facts.attributes.campaign, facts.attributes.variant, 0, 0], of: delivery)
    }
}
