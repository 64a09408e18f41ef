internal import Postgres
internal import Telemetry

/// Silent pushes of a campaign, by the result of the background fetch.
struct SilentSummary: Hashable, Sendable {
    var campaign: String
    var woken: Int64
    var newData: Int64
    var noData: Int64
    var failed: Int64
    var noResult: Int64
}

enum SilentPushesSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.silent = try connection.query(
            """
            SELECT campaign, sum(woken)::bigint, sum(new_data)::bigint, sum(no_data)::bigint, sum(failed)::bigint,
                sum(no_result)::bigint
            FROM analytics.silent_funnel WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY campaign ORDER BY sum(woken) DESC, campaign COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            SilentSummary(
                campaign: try row.get(0), woken: try row.get(1), newData: try row.get(2), noData: try row.get(3),
                failed: try row.get(4), noResult: try row.get(5))
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.silent.isEmpty else { return nil }
        let sent = Dictionary(report.campaigns.map { (ExactName($0.name), $0.sent) }) { first, _ in first }
        let isSentKnown = report.silent.contains { sent[ExactName($0.campaign)] ?? nil != nil }
        let table = Table("Pushes that woke the app without showing anything", of: report.silent) { row in
            let told = (sent[ExactName(row.campaign)] ?? nil).map(Wording.count) ?? "–"
            return [.name("Campaign", row.campaign, else: CampaignsSection.none)]
                + (isSentKnown ? [.number("Sent", told)] : []) + [
                    .count("Woken", row.woken),
                    .bar("New data", Wording.count(row.newData), share: Rate(row.newData, of: row.woken).value),
                    .count("No data", row.noData), .count("Failed", row.failed), .count("No result", row.noResult),
                ]
        }
        return Page.Section("Silent pushes", [.table(table)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("silent", report.silent) {
            Entry(
                keys: [.text("campaign", $0.campaign)],
                facts: [
                    .count("woken", $0.woken), .count("new_data", $0.newData), .count("no_data", $0.noData),
                    .count("failed", $0.failed), .count("no_result", $0.noResult),
                ])
        }
    }
}
