internal import Telemetry

/// Per (app, day): how many installs were in use, what they allowed the app to show, and how many changed that.
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
                    .count("unsaid", "Installs of which no event of that day gives an authorization"),
                    .count(
                        "turned_off",
                        "Installs that turned notifications off: with a permission.changed to denied, however often"),
                    .count("turned_on", "Installs with a permission.changed from denied to something else"),
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
                    count(*) FILTER (WHERE turned_off_at IS NOT NULL) AS turned_off, count(*) FILTER (WHERE turned_on) AS turned_on
                FROM recount_install_day GROUP BY app, day
                """, behind: "false"), day: "Day of the install's events in the time zone of the app")
    ]

    static func count(_ day: InstallDay, _ weight: Int64, into tallies: inout [Tally]) {
        // The first column is `active`, and the last three are `unsaid`, `turned_off` and `turned_on`.
        let codes = Authorization.allCases.count
        let authorization = Int(day.facts.device.authorization)
        var columns: UInt32 = 1 | 1 << UInt32(authorization == 0 ? codes + 1 : authorization)
        if day.facts.turnedOff != nil { columns |= 1 << UInt32(codes + 2) }
        if day.facts.isTurnedOn { columns |= 1 << UInt32(codes + 3) }
        tallies[0].add(columns, times: weight, at: .zero, of: day)
    }
}
