internal import Telemetry
package import Values

/// **Silent funnel**, one row per (app, day, campaign), of silent deliveries alone.
///
/// Decided: the last `fetch_result` is that of the last event that gives one; a later receipt without one does not undo
/// it.
package struct SilentFunnel: FunnelRow {
    package let key: Key
    package let woken: Int
    package let newData: Int
    package let noData: Int
    package let failed: Int
    package let noResult: Int

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let campaign: Label
    }

    package static let view = "silent_funnel"

    package static var keyColumns: [Column<SilentFunnel>] {
        [Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("campaign", \.key.campaign)]
    }

    package static var numberColumns: [Column<SilentFunnel>] {
        [
            Column("woken", \.woken), Column("new_data", \.newData), Column("no_data", \.noData),
            Column("failed", \.failed), Column("no_result", \.noResult),
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [SilentFunnel] {
        Dictionary(grouping: deliveries.filter(\.facts.silent)) {
            Key(app: $0.name.app, day: $0.facts.day, campaign: $0.facts.campaign)
        }
        .map { SilentFunnel(key: $0, of: $1) }
        .sortedByKey()
    }

    private init(key: Key, of deliveries: [Delivery]) {
        let results = deliveries.map { $0.events.compactMap { $0.receipt?.fetchResult }.last }
        self.key = key
        woken = deliveries.count
        newData = results.count { $0 == .newData }
        noData = results.count { $0 == .noData }
        failed = results.count { $0 == .failed }
        noResult = results.count { $0 == nil }
    }
}
