internal import Postgres
internal import Telemetry

extension SilentSummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [SilentSummary] {
        let rows = try connection.query(
            """
            SELECT campaign, woken, new_data, no_data, failed, no_result FROM analytics.silent_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY woken DESC, campaign COLLATE "C"
            """)
        var all: [SilentSummary] = []
        for row in rows {
            all.append(
                SilentSummary(
                    campaign: try row.get(0), woken: try row.get(1), newData: try row.get(2), noData: try row.get(3),
                    failed: try row.get(4), noResult: try row.get(5)))
        }
        return all
    }
}
