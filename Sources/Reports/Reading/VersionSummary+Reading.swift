internal import Postgres
internal import Telemetry

extension VersionSummary {
    /// A version with fewer deliveries on the seven days before is held against its platform.
    private static let leastBefore: Int64 = 100

    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [VersionSummary] {
        let rows = try connection.query(
            """
            WITH before AS (
                SELECT
                    platform, app_version, sum(received)::bigint AS had_received, sum(delivered)::bigint AS had
                FROM analytics.version_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.day.advanced(by: -7)) AND \(scope.day.advanced(by: -1))
                GROUP BY GROUPING SETS ((platform, app_version), (platform))
            )
            SELECT
                today.platform, today.app_version, coalesce(version.had_received, 0), coalesce(version.had, 0),
                coalesce(platform.had_received, 0), coalesce(platform.had, 0), \(sql: FunnelCounts.columns)
            FROM analytics.version_funnel AS today
            LEFT JOIN before AS version
                ON version.platform = today.platform AND version.app_version = today.app_version
            LEFT JOIN before AS platform ON platform.platform = today.platform AND platform.app_version IS NULL
            WHERE app = \(scope.app) AND day = \(scope.day)
            ORDER BY today.delivered DESC, today.platform COLLATE "C", today.app_version COLLATE "C"
            """)
        var versions: [VersionSummary] = []
        for row in rows {
            let counts = try FunnelCounts(row, from: 6)
            let version = Rate(try row.get(2), of: try row.get(3))
            let platform = Rate(try row.get(4), of: try row.get(5))
            let isNew = version.whole < leastBefore
            let before = isNew ? platform : version
            versions.append(
                VersionSummary(
                    platform: try row.get(0), version: try row.get(1), counts: counts, before: before, isNew: isNew,
                    verdict: TwoProportions.verdict(counts.receiptCoverage, against: before)))
        }
        return versions
    }
}
