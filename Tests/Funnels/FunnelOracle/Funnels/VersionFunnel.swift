package import Values

/// **Per-version funnel**, one row per (app, day, platform, app_version).
package struct VersionFunnel: FunnelRow {
    package let key: Key
    package let counts: DeliveryCounts

    package struct Key: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let platform: Label
        package let appVersion: Label
    }

    package static let view = "version_funnel"

    package static var keyColumns: [Column<VersionFunnel>] {
        [
            Column("app", \.key.app), Column("day") { .day($0.key.day) }, Column("platform", \.key.platform),
            Column("app_version", \.key.appVersion),
        ]
    }

    package static var numberColumns: [Column<VersionFunnel>] { DeliveryCounts.columns.map { $0.within(\.counts) } }

    package static func rows(of deliveries: [Delivery]) -> [VersionFunnel] {
        Dictionary(grouping: deliveries.filter { !$0.facts.silent }) {
            Key(
                app: $0.name.app, day: $0.facts.day, platform: $0.facts.platform, appVersion: $0.facts.appVersion)
        }
        .map { VersionFunnel(key: $0, counts: DeliveryCounts(of: $1)) }
        .sortedByKey()
    }
}
