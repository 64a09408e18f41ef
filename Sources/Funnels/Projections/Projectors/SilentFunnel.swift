internal import Telemetry

/// Per (app, day, campaign): what silent pushes fetched. They are shown to nobody and would distort every rate, so they
/// are counted separately.
enum SilentFunnel: Projector {
    static let name = "silent_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [.campaign],
            columns: [
                .count("woken", "Silent deliveries: the sum of the next four columns"),
                .count(
                    "new_data",
                    "Deliveries for which the app reported new data (its last result counts)"),
                .count("no_data", "Deliveries for which the app reported that there was nothing new"),
                .count("failed", "Deliveries for which the app reported that fetching failed"),
                .count("no_result", "Deliveries for which the app reported no result"),
                .derived(
                    "new_data_rate", "round(f.new_data / nullif(f.woken - f.no_result, 0), 4)",
                    "new_data / (new_data + no_data + failed): the share among deliveries with a result. "
                        + "Null if there are none"
                ),
            ],
            view: .sums(
                """
                Silent pushes: those that woke the app and showed nothing. No other funnel counts them. iOS delays or drops silent \
                pushes as it sees fit, and does not wake an app that the user closed, so this is not what was sent.
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
                """, behind: "\(sameDay) AND d.campaign = cell.campaign AND \(DeliveryFlags.silent.any)"))
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
        tallies[0].add(1 | result, times: weight, at: Tally.Keys(facts.attributes.campaign), of: delivery)
    }
}
