/// Per (app, day, category, campaign): what people had last received when they turned notifications off.
enum MutedAfter: Projector {
    static let name = "muted_after"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: [
                .word("category", "Category of what they had last received, as its receipt says; '' for none"),
                .word("campaign", "Its campaign, as its receipt says; '' for none"),
            ],
            columns: [
                .count(
                    "installs",
                    "Installs that turned notifications off on that day. They add up to turned_off in install_days"),
                .count(
                    "received_nothing",
                    "Those of them that had received nothing in the 24 hours before; category and campaign are ''"),
            ],
            view: .sums(
                """
                What installs had last received in the 24 hours before they turned notifications off, by the last receipt of a \
                notification that was not silent. An install that turns them off several times a day counts once, with the first \
                time. What came last is not always the reason; compare with what all installs received.
                """),
            recount: .init(
                """
                SELECT app, day, muted_category AS category, muted_campaign AS campaign, count(*) AS installs,
                    count(*) FILTER (WHERE flags & \(InstallDayFlags.receivedNothing.rawValue) <> 0) AS received_nothing
                FROM recount_install_day WHERE turned_off_at IS NOT NULL GROUP BY app, day, muted_category, muted_campaign
                """, behind: "false"),
            day: "Day of the permission.changed in the time zone of the app")
    ]

    static func count(_ day: InstallDay, _ weight: Int64, into tallies: inout [Tally]) {
        switch day.muted {
        case .after(let receipt):
            tallies[0].add(0b01, times: weight, at: Tally.Keys(receipt.category, receipt.campaign), of: day)
        case .afterNothing: tallies[0].add(0b11, times: weight, at: .zero, of: day)
        case nil: break
        }
    }
}
