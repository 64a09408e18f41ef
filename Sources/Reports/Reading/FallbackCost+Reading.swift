internal import Postgres
internal import Telemetry

extension FallbackCost {
    /// Over received deliveries, as all response rates are.
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> FallbackCost? {
        let row = try connection.query(
            """
            SELECT
                count(*),
                count(*) FILTER (WHERE received AND story_exit = 'fallback'),
                count(*) FILTER (WHERE received_responded AND story_exit = 'fallback'),
                count(*) FILTER (WHERE received AND story_exit <> 'fallback'),
                count(*) FILTER (WHERE received_responded AND story_exit <> 'fallback')
            FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND story_exit IS NOT NULL
            """)[0]
        guard try row.get(0, as: Int64.self) > 0 else { return nil }
        let fallback = Rate(try row.get(2), of: try row.get(1))
        let shown = Rate(try row.get(4), of: try row.get(3))
        return FallbackCost(
            fallback: fallback, shown: shown, verdict: TwoProportions.verdict(fallback, against: shown))
    }
}
