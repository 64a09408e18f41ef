internal import Telemetry

/// Per (app, day, campaign): what silent pushes fetched. Shown to nobody, they would drown every rate, and so are counted apart.
enum SilentFunnel: Projector {
    static let name = "silent_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [.campaign],
            columns: [
                .count("woken", "Silent deliveries. The next four add up to it"),
                .count(
                    "new_data",
                    "Deliveries after which the app said that it fetched something new (its last result)"),
                .count("no_data", "Deliveries after which the app said that there was nothing new"),
                .count("failed", "Deliveries after which the app said that fetching failed"),
                .count("no_result", "Deliveries after which the app did not say"),
                .derived(
                    "new_data_rate", "f.new_data / nullif(f.woken - f.no_result, 0)",
                    "new_data / (new_data + no_data + failed): over those that gave a result. Null where none did"),
            ],
            view: .sums(
                """
                Silent pushes: those that woke the app and showed nothing. They stand in no other funnel. iOS holds silent pushes \
                back as it sees fit, and wakes no app that was closed by hand: what was sent is not here.
                """),
            recount: .init(
                """
                SELECT
                    app, day, campaign,
                    count(*) AS woken,
                    count(*) FILTER (WHERE fetch_result = 1) AS new_data,
                    count(*) FILTER (WHERE fetch_result = 2) AS no_data,
                    count(*) FILTER (WHERE fetch_result = 3) AS failed,
                    count(*) FILTER (WHERE fetch_result = 0) AS no_result
                FROM recount_delivery WHERE silent GROUP BY app, day, campaign
                """, behind: "\(sameDay) AND d.campaign = cell.campaign AND d.flags & 1 = 1"))
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard facts.flags.isSilent else { return }
        let result: UInt32 =
            switch FetchResult(rawValue: facts.fetchResult) {
            case .newData: 1 << 1
            case .noData: 1 << 2
            case .failed: 1 << 3
            case nil: 1 << 4
            }
        tallies[0].add(1 | result, times: weight, at: [facts.attributes.campaign, 0, 0, 0], of: delivery)
    }
}
