/// Per (app, day, campaign, variant): what became of the notifications of a campaign. Its view puts what was sent
/// beside it.
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
                    Campaign; '' for none. A message of the export counts for the campaign of its delivery if there is one, else \
                    of the send that names the message, else of all sends with its analytics label if they have the same one, \
                    else the label itself takes its place. The label also stands in for the campaign of a send without one
                    """),
                .word("variant", "Variant of the campaign; '' for none. It is found in the same way as the campaign"),
            ],
            columns: DeliveryCounts.columns + DeliveryCounts.rates, view: .byHand,
            recount: .init(
                DeliveryCounts.recount(by: "campaign, variant"),
                behind: "\(sameDay) AND d.campaign = cell.campaign AND d.variant = cell.variant AND \(noneSilent)")),
        SoleTaps.table("campaign_soles", keys: [.campaign, .variant]),
    ]

    /// Silent pushes wake the app and show nothing. Their variants are not told apart.
    static let counted = Counted([
        .closed(by: "campaign_soles", of: name, keys: [.campaign, .variant]),
        .table("silent_funnel", of: "silent_funnel", keys: [.campaign], counts: [("woken", "c.woken")]),
    ])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        let keys = Tally.Keys(facts.attributes.campaign, facts.attributes.variant)
        tallies[0].add(DeliveryCounts.bits(of: facts.flags), times: weight, at: keys, of: delivery)
        SoleTaps.count(delivery, weight, at: keys, width: 2, into: &tallies[1])
    }
}
