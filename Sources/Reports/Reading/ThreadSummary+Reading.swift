internal import Postgres
internal import Telemetry

extension ThreadSummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [ThreadSummary] {
        let rows = try connection.query(
            """
            SELECT thread, items, \(sql: FunnelCounts.columns) FROM analytics.thread_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY delivered DESC, thread COLLATE "C"
            """)
        var threads: [ThreadSummary] = []
        for row in rows {
            threads.append(
                ThreadSummary(name: try row.get(0), counts: try FunnelCounts(row, from: 2), items: try row.get(1)))
        }
        return threads
    }
}
