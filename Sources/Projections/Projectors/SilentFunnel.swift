internal import Telemetry

/// Per (app, day, campaign): what silent pushes fetched.
enum SilentFunnel: Projector {
    static let name = "silent_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            "silent_funnel", keys: [.integer("campaign")],
            counts: ["woken", "new_data", "no_data", "failed", "no_result"])
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
