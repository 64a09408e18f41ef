internal import Postgres
internal import Telemetry

extension MediaSummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [MediaSummary] {
        let rows = try connection.query(
            """
            SELECT kind, network, outcome, sum(deliveries)::bigint, sum(responded)::bigint FROM analytics.media_funnel
            WHERE app = \(scope.app) AND day = \(scope.day)
            GROUP BY kind, network, outcome
            ORDER BY sum(deliveries) DESC, kind COLLATE "C", network COLLATE "C", outcome COLLATE "C"
            """)
        var all: [MediaSummary] = []
        for row in rows {
            all.append(
                MediaSummary(
                    kind: try row.get(0), network: try row.get(1), outcome: try row.get(2), deliveries: try row.get(3),
                    responded: try row.get(4)))
        }
        return all
    }
}
