internal import Postgres
internal import Telemetry

extension Reach {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Reach {
        let row = try connection.query(
            """
            SELECT
                count(*), count(*) FILTER (WHERE responding),
                percentile_disc(0.5) WITHIN GROUP (ORDER BY pushes),
                percentile_disc(0.95) WITHIN GROUP (ORDER BY pushes)
            FROM (
                SELECT count(*) AS pushes, bool_or(responded) AS responding FROM analytics.deliveries
                WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent GROUP BY install_id
            ) AS install
            """)[0]
        var reach = Reach()
        reach.reached = try row.get(0)
        reach.responding = try row.get(1)
        reach.pushesP50 = try row.optional(2)
        reach.pushesP95 = try row.optional(3)
        return reach
    }
}
