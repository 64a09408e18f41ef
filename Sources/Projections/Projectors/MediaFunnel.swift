/// Per (app, day, category, kind, network, outcome): whether attachments arrive, and whether they help.
enum MediaFunnel: Projector {
    static let name = "media_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "media_funnel",
            keys: [.integer("category"), .smallint("kind"), .smallint("network"), .smallint("outcome")],
            counts: ["deliveries", "responded"])
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent, facts.media.outcome != 0 else { return }
        tallies[0].add(
            facts.flags.isResponded ? 0b11 : 0b01, times: weight,
            at: [
                facts.attributes.category, Int32(facts.media.kind), Int32(facts.media.network),
                Int32(facts.media.outcome),
            ], of: delivery)
    }
}
