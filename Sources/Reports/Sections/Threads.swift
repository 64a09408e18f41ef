internal import Postgres
internal import Telemetry

/// One notification group.
struct ThreadSummary: Hashable, Sendable {
    var name: String
    var counts: FunnelCounts
    var items: Int64
}

enum ThreadsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.threads = try connection.query(
            """
            SELECT thread, sum(items)::bigint, \(sql: FunnelCounts.sums) FROM analytics.thread_funnel
            WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY thread ORDER BY sum(delivered) DESC, thread COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            ThreadSummary(name: try row.get(0), counts: try FunnelCounts(row, from: 2), items: try row.get(1))
        }
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
        return Page.Section("Notification groups", [.table(table)] + report.threads.map(\.counts).markNote)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("threads", report.threads) {
            Entry(keys: [.text("thread", $0.name)], facts: $0.counts.facts + [.count("items", $0.items)])
        }
    }
}
