internal import Telemetry
package import Values

/// A row of the view `installs`: what the last event that says it says.
package struct InstallRow: FunnelRow {
    package let app: Label
    package let install: UUID
    private let firstSeen: Timestamp
    private let lastSeen: Timestamp
    private let words: [Label?]
    private let authorization: Label?
    private let since: Timestamp?

    package static let view = "installs"
    package static let isSum = false

    package static var keyColumns: [Column<InstallRow>] {
        [Column("app", \.app), Column("install_id") { .text(Label($0.install.description)) }]
    }

    package static var numberColumns: [Column<InstallRow>] {
        [Column("first_seen") { .time($0.firstSeen) }, Column("last_seen") { .time($0.lastSeen) }]
            + names.enumerated().map { place, name in
                Column(name) { $0.words[place].map { .text($0) } ?? .null }
            } + [
                Column("authorization") { $0.authorization.map { .text($0) } ?? .null },
                Column("authorization_since") { $0.since.map { .time($0) } ?? .null },
            ]
    }

    private static let names = ["platform", "app_version", "os_version", "device_model", "locale", "time_zone"]

    package static func rows(of _: [Delivery], _ days: [InstallDay]) -> [InstallRow] {
        Dictionary(grouping: days) { [$0.app, Label($0.install.description)] }.values.map { days in
            let events = days.flatMap(\.events).sorted(by: EventOrder.precedes)
            func last(_ word: (Source) -> String?) -> Label? {
                events.last { word($0.source) != nil }.flatMap { word($0.source) }.map { Label($0) }
            }
            let authorization = events.last { $0.authorization != nil }?.authorization
            let change = events.last { $0.type == .permissionChanged }
            return InstallRow(
                app: days[0].app, install: days[0].install, firstSeen: events[0].occurredAt,
                lastSeen: events[events.count - 1].occurredAt,
                words: [
                    last(\.platform), last(\.appVersion), last(\.osVersion), last(\.deviceModel), last(\.locale),
                    last(\.timeZone),
                ],
                authorization: authorization.map { Label($0.wire) },
                since: authorization != nil && change?.authorization == authorization ? change?.occurredAt : nil)
        }
        .sortedByKey()
    }
}
