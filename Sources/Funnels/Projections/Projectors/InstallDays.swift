internal import Telemetry

/// Per (app, day): how many installs were in use, what they allowed the app to show, how many changed that, and how
/// many people would notice what is sent to them.
enum InstallDays: Projector {
    static let name = "install_days"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: [],
            columns: [.count("active", "Installs with an event on that day")]
                + Authorization.allCases.map { authorization in
                    .count(
                        authorization.wire,
                        "Installs whose last event of that day that gives an authorization says \(authorization.wire)")
                } + [
                    .count(
                        "unsaid",
                        "Installs of which no event of that day gives an authorization; "
                            + "so their reach is unknown, too"),
                    .count(
                        "turned_off",
                        "Installs that turned notifications off: with a permission.changed to denied, however often"),
                    .count("turned_on", "Installs with a permission.changed from denied to something else"),
                    .count(
                        Reach.prominent.wire,
                        "Installs that show notifications where they are noticed, by the last event of that day that "
                            + "gives an authorization: authorized or ephemeral, banners or lock screen not off, "
                            + "no scheduled summary"
                    ),
                    .count(
                        Reach.quiet.wire,
                        "Installs that show them only quietly: "
                            + "provisional, or with banners and lock screen off, or in the scheduled summary"
                    ),
                    .count(
                        Reach.none.wire,
                        "Installs that show none: denied or not_determined. "
                            + "prominent, quiet, none and unsaid add up to active"
                    ),
                ],
            view: .sums(
                """
                Installs in use, and what their users allow the app to show. Each install counts once a day, so days cannot be \
                added up. An install that sends nothing is not active, whatever it receives.
                """),
            recount: .init(
                """
                SELECT app, day, count(*) AS active,
                    \(Authorization.allCases.map {
                        "count(*) FILTER (WHERE \"authorization\" = \($0.rawValue)) AS \($0.wire)"
                    }.joined(separator: ", ")),
                    count(*) FILTER (WHERE "authorization" = 0) AS unsaid,
                    count(*) FILTER (WHERE turned_off_at IS NOT NULL) AS turned_off, count(*) FILTER (WHERE turned_on) AS turned_on,
                    \(Reach.allCases.map {
                        "count(*) FILTER (WHERE reach = \($0.rawValue)) AS \($0.wire)"
                    }.joined(separator: ", "))
                FROM recount_install_day GROUP BY app, day
                """, behind: "false"), day: "Day of the install's events in the time zone of the app")
    ]

    static func count(_ day: InstallDay, _ weight: Int64, into tallies: inout [Tally]) {
        // The first column is `active`; after the authorizations come `unsaid`, `turned_off`, `turned_on` and the
        // reaches.
        let codes = Authorization.allCases.count
        let authorization = Int(day.facts.device.authorization)
        var columns: UInt32 = 1 | 1 << UInt32(authorization == 0 ? codes + 1 : authorization)
        if day.facts.turnedOff != nil { columns |= 1 << UInt32(codes + 2) }
        if day.facts.isTurnedOn { columns |= 1 << UInt32(codes + 3) }
        if day.facts.device.reach != 0 { columns |= 1 << UInt32(codes + 3 + Int(day.facts.device.reach)) }
        tallies[0].add(columns, times: weight, at: .zero, of: day)
    }
}
