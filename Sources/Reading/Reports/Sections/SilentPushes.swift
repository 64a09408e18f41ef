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

    fileprivate var facts: [Fact] {
        [
            .count("woken", woken), .count("new_data", newData), .count("no_data", noData), .count("failed", failed),
            .count("no_result", noResult),
        ]
    }
}

enum SilentPushesSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let most = scope.bound.entries
        (report.silent, report.otherSilent) = try connection.query(
            """
            SELECT
                min(campaign COLLATE "C"), sum(woken)::bigint, sum(new_data)::bigint, sum(no_data)::bigint,
                sum(failed)::bigint, sum(no_result)::bigint, count(*) FILTER (WHERE place > \(most))
            FROM (
                SELECT
                    campaign, sum(woken) AS woken, sum(new_data) AS new_data, sum(no_data) AS no_data,
                    sum(failed) AS failed, sum(no_result) AS no_result,
                    least(row_number() OVER (ORDER BY sum(woken) DESC, campaign COLLATE "C"), \(most) + 1) AS place
                FROM analytics.silent_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day) GROUP BY campaign
            ) AS ranked
            GROUP BY place ORDER BY place
            """
        ).listed(leftOut: 6) { row throws(PostgresError) in
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
        return Page.Section(
            "Silent pushes",
            [.table(table)]
                + RestOfList.words(report.otherSilent, "campaign", "campaigns", \.woken, of: "push", "pushes") + [
                    .sentence(
                        "A silent push shows nothing and wakes the app for a moment. "
                            + "So it counts as woken, never as delivered, and "
                            + "nobody can answer it. Phones wake an app only as often as they see fit.", .note)
                ])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("silent", report.silent) {
            Entry(keys: [.text("campaign", $0.campaign)], facts: $0.facts)
        } + RestOfList.facts("other_silent", report.otherSilent) { $0.facts }
    }
}
