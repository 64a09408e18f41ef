/// Per (app, day, platform, app version): shows a release that broke receipts.
enum VersionFunnel: Projector {
    static let name = "version_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: keys,
            columns: DeliveryCounts.columns + DeliveryCounts.rates,
            view: .sums(
                "The columns of category_funnel by operating system and version of the app."),
            recount: .init(
                DeliveryCounts.recount(by: "platform, app_version"),
                behind: """
                    \(sameDay) AND d.platform = cell.platform AND d.app_version = cell.app_version AND \(noneSilent)
                    """)),
        SoleTaps.table("version_soles", keys: keys),
    ]

    private static let keys: [TallyTable.Key] = [
        .word("platform", "Operating system of the device, as posted; '' for deliveries without one"),
        .word("app_version", "Version of the app: the first one that the delivery's events name; '' if none does"),
    ]

    static let counted = Counted([.closed(by: "version_soles", of: name, keys: keys)])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        let keys = Tally.Keys(facts.attributes.platform, facts.attributes.appVersion)
        tallies[0].add(DeliveryCounts.bits(of: facts.flags), times: weight, at: keys, of: delivery)
        SoleTaps.count(delivery, weight, at: keys, width: 2, into: &tallies[1])
    }
}
