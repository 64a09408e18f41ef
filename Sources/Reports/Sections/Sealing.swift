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
            "Old events of this day were dropped by retention: its sums stay; "
            + "\(report.campaigns.isEmpty ? "campaigns, " : "")installs, hours, piles and launches are not known any more."
        return Page.Section("Sealed", [.sentence(words, .plain)])
    }
}
