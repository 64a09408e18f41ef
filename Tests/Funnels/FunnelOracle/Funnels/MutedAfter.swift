package import Values

/// **Muted after**, one row per (app, day, category, campaign): installs that turned notifications off on that day, by
/// what they had last received in the 24 hours before.
package struct MutedAfter: FunnelRow {
    package let app: Label
    package let day: CivilDate
    package let category: Label
    package let campaign: Label
    package let installs: Int
    package let receivedNothing: Int

    package static let view = "muted_after"

    package static var keyColumns: [Column<MutedAfter>] {
        [
            Column("app", \.app), Column("day") { .day($0.day) }, Column("category", \.category),
            Column("campaign", \.campaign),
        ]
    }

    package static var numberColumns: [Column<MutedAfter>] {
        [Column("installs", \.installs), Column("received_nothing", \.receivedNothing)]
    }

    package static func rows(of _: [Delivery], _ days: [InstallDay]) -> [MutedAfter] {
        let muted = days.compactMap { day in day.muted.map { (day: day, muted: $0) } }
        return Dictionary(grouping: muted) { day, muted in
            [day.app, Label(day.day.description), muted.category, muted.campaign]
        }
        .map { key, alike in
            MutedAfter(
                app: key[0], day: alike[0].day.day, category: key[2], campaign: key[3], installs: alike.count,
                receivedNothing: alike.count { $0.muted.receivedNothing })
        }
        .sortedByKey()
    }
}
