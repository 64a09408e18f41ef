internal import Postgres
internal import Telemetry

/// Installs, each counted once for the day, so days cannot be summed. Silent pushes reach nobody.
struct Reach: Hashable, Sendable {
    var reached: Int64 = 0
    var responding: Int64 = 0
    /// Deliveries per install that got any: the median and the 95th percentile.
    var pushesP50: Int64?
    var pushesP95: Int64?
}

enum InstallsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard !report.isSealed else { return }
        let row = try connection.query(
            """
            SELECT
                count(*), count(*) FILTER (WHERE responding),
                percentile_disc(0.5) WITHIN GROUP (ORDER BY pushes),
                percentile_disc(0.95) WITHIN GROUP (ORDER BY pushes)
            FROM (
                SELECT count(*) AS pushes, bool_or(responded) AS responding FROM analytics.deliveries
                WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent GROUP BY install_id
            ) AS install
            """)[0]
        report.reach = Reach(
            reached: try row.get(0), responding: try row.get(1), pushesP50: try row.optional(2),
            pushesP95: try row.optional(3))
    }

    static func words(_ report: Report) -> Page.Section? {
        guard report.reach.reached > 0 else { return nil }
        let reach = report.reach
        var figures = [
            Figure("Installs reached", Wording.count(reach.reached)),
            Figure(
                "Installs responding", Wording.count(reach.responding),
                detail: "\(Wording.percent(Rate(reach.responding, of: reach.reached))) of those reached"),
        ]
        if let median = reach.pushesP50, let many = reach.pushesP95 {
            figures.append(
                Figure(
                    "Pushes per install", Wording.count(median),
                    detail: "median; 95th percentile: \(Wording.count(many))"))
        }
        return Page.Section(
            "Installs",
            [.figures(figures), .sentence("Each install counts once a day, so days cannot be added up.", .note)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        let reach = report.reach
        return .single(
            "reach",
            Entry(facts: [
                .count("installs_reached", reach.reached), .count("installs_responding", reach.responding),
                .count("pushes_p50", reach.pushesP50), .count("pushes_p95", reach.pushesP95),
            ]))
    }
}
