internal import Postgres
internal import Telemetry

extension StackDepth {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [StackDepth] {
        let rows = try connection.query(
            """
            SELECT scope, depth_bucket, \(sql: FunnelCounts.columns) FROM analytics.stack_depth_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY scope = 'app', depth_bucket COLLATE "C"
            """)
        var depths: [StackDepth] = []
        for row in rows {
            guard let scope = Scope(rawValue: try row.get(0)) else { continue }
            depths.append(StackDepth(scope: scope, bucket: try row.get(1), counts: try FunnelCounts(row, from: 2)))
        }
        return depths
    }
}
