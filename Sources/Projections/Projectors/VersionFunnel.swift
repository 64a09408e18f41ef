/// Per (app, day, platform, app version): a release that broke its receipts shows here.
enum VersionFunnel: Projector {
    static let name = "version_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "version_funnel", keys: [.integer("platform"), .integer("app_version")], counts: DeliveryCounts.columns)
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            DeliveryCounts.bits(of: facts.flags), times: weight,
            at: [facts.attributes.platform, facts.attributes.appVersion, 0, 0], of: delivery)
    }
}
