internal import Postgres
internal import Telemetry

extension Suppressed {
    /// Categories with any.
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [Suppressed] {
        let rows = try connection.query(
            """
            SELECT category, suppressed, delivered FROM analytics.category_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) AND suppressed > 0
            ORDER BY suppressed DESC, category COLLATE "C"
            """)
        var all: [Suppressed] = []
        for row in rows {
            all.append(Suppressed(category: try row.get(0), suppressed: Rate(try row.get(1), of: try row.get(2))))
        }
        return all
    }
}
