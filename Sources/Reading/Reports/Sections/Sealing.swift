internal import Postgres
internal import Telemetry

/// That a part of the day's details is gone, said before anybody looks for it.
enum SealingSection: ReportSection {
    /// Retention drops deliveries, and the funnels keep their counts: if deliveries are fewer, some were dropped.
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let deliveries: Int64 = try connection.query(
            """
            SELECT count(*) FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent
            """)[0].get(0)
        report.isSealed = deliveries < report.headline.counts.delivered
    }

    static func words(_ report: Report) -> Page.Section? {
        guard report.isSealed else { return nil }
        let words =
            "Retention dropped old events of this day. Its sums remain, but "
            + "\(report.campaigns.isEmpty ? "campaigns, " : "")installs, hours, "
            + "stack depths and launches are no longer known."
        return Page.Section("Sealed", [.sentence(words, .plain)])
    }
}
