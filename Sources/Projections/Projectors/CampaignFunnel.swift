/// Per (app, day, campaign, variant): what became of the notifications of a campaign.
enum CampaignFunnel: Projector {
    static let name = "campaign_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "campaign_funnel", keys: [.integer("campaign"), .integer("variant")], counts: DeliveryCounts.columns)
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            DeliveryCounts.bits(of: facts.flags), times: weight,
            at: [facts.attributes.campaign, facts.attributes.variant, 0, 0], of: delivery)
    }
}
