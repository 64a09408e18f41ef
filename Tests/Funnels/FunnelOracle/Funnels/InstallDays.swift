internal import Telemetry
package import Values

/// **Installs**, one row per (app, day): each install once, with the last authorization that its events of the day say.
package struct InstallDays: FunnelRow {
    package let app: Label
    package let day: CivilDate
    private let installs: [Counted]

    /// What an install counts for.
    private struct Counted: Hashable {
        let authorization: Authorization?
        let isTurnedOff: Bool
        let isTurnedOn: Bool
        let reach: Label?
    }

    package static let view = "install_days"

    package static var keyColumns: [Column<InstallDays>] {
        [Column("app", \.app), Column("day") { .day($0.day) }]
    }

    package static var numberColumns: [Column<InstallDays>] {
        func count(_ name: String, _ counts: @escaping (Counted) -> Bool) -> Column<InstallDays> {
            Column(name) { .number(Int64($0.installs.count(where: counts))) }
        }
        return [count("active") { _ in true }]
            + [Authorization.authorized, .provisional, .ephemeral, .denied, .notDetermined].map { authorization in
                count(authorization.wire) { $0.authorization == authorization }
            } + [
                count("unsaid") { $0.authorization == nil }, count("turned_off", \.isTurnedOff),
                count("turned_on", \.isTurnedOn),
            ]
            + ["prominent", "quiet", "none"].map { reach in count(reach) { $0.reach == Label(reach) } }
    }

    package static func rows(of _: [Delivery], _ days: [InstallDay]) -> [InstallDays] {
        Dictionary(grouping: days) { [$0.app, Label($0.day.description)] }.values.map { alike in
            let installs = alike.map {
                Counted(
                    authorization: $0.authorization, isTurnedOff: $0.muted != nil, isTurnedOn: $0.isTurnedOn,
                    reach: $0.reach)
            }
            return InstallDays(app: alike[0].app, day: alike[0].day, installs: installs)
        }
        .sortedByKey()
    }
}
