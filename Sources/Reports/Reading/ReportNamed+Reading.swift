internal import Postgres
internal import Telemetry

extension Report.Named {
    /// The campaigns of the day, '' for deliveries that name none.
    static func readCampaigns(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [Report.Named] {
        let rows = try connection.query(
            """
            SELECT campaign, \(sql: FunnelCounts.countsOfDeliveries) FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent
            GROUP BY campaign ORDER BY count(*) DESC, campaign COLLATE "C"
            """)
        var campaigns: [Report.Named] = []
        for row in rows {
            campaigns.append(Report.Named(name: try row.get(0), counts: try FunnelCounts(row, from: 1)))
        }
        return campaigns
    }
}
