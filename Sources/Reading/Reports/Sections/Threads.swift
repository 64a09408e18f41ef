internal import Postgres
internal import Telemetry

/// One notification group.
struct ThreadSummary: Hashable, Sendable {
    var name: String
    var counts: FunnelCounts
    var items: Int64

    fileprivate var facts: [Fact] { counts.facts + [.count("items", items)] }
}

enum ThreadsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let most = scope.bound.entries
        (report.threads, report.otherThreads) = try connection.query(
            """
            SELECT min(thread COLLATE "C"), count(*) FILTER (WHERE place > \(most)), sum(items)::bigint,
                \(sql: FunnelCounts.sums)
            FROM (
                SELECT
                    thread, sum(items)::bigint AS items, \(sql: FunnelCounts.sums), sum(engaged)::bigint AS engaged,
                    sum(received_engaged)::bigint AS received_engaged,
                    least(row_number() OVER (ORDER BY sum(delivered) DESC, thread COLLATE "C"), \(most) + 1) AS place
                FROM analytics.thread_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day) GROUP BY thread
            ) AS ranked
            GROUP BY place ORDER BY place
            """
        ).listed(leftOut: 1) { row throws(PostgresError) in
            ThreadSummary(name: try row.get(0), counts: try FunnelCounts(row, from: 3), items: try row.get(2))
        }
        // Campaigns have been read before.
        try report.dismissals.find(
            campaigns: report.campaigns.map(\.name), threads: report.threads.map(\.name), scope, on: &connection)
    }

    static func words(_ report: Report) -> Page.Section? {
        guard report.threads.contains(where: { !$0.name.isEmpty }) else { return nil }
        let table = Table("By thread", of: report.threads) { thread in
            [
                .name("Thread", thread.name, else: "(no thread)"), .count("Delivered", thread.counts.delivered),
                .count("Items", thread.items), .count("Received", thread.counts.received),
            ] + thread.counts.rates(leadingWithEngagement: report.leadsWithEngagement) + [
                thread.counts.dismissedField(areReported: report.dismissals.areReported(ofThread: thread.name))
            ]
        }
        return Page.Section(
            "Notification groups",
            [.table(table)] + RestOfList.words(report.otherThreads, "group", "groups", \.counts.delivered)
                + report.threads.map(\.counts).markNote)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("threads", report.threads) { Entry(keys: [.text("thread", $0.name)], facts: $0.facts) }
            + RestOfList.facts("other_threads", report.otherThreads) { $0.facts }
    }
}
