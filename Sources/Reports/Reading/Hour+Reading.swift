internal import Postgres
internal import Telemetry

extension Hour {
    /// By the clock of the app's time zone: where it is put back, one of the hours lasts two.
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [Hour] {
        let rows = try connection.query(
            """
            SELECT
                extract(hour FROM first_occurred_at AT TIME ZONE \(scope.timeZone))::integer AS hour, count(*),
                count(*) FILTER (WHERE received_responded), count(*) FILTER (WHERE received)
            FROM analytics.deliveries WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent GROUP BY hour
            """)
        var hours = (0..<24).map { Hour(hour: $0, delivered: 0, response: Rate(0, of: 0)) }
        for row in rows {
            let hour = Int(try row.get(0, as: Int32.self))
            hours[hour] = Hour(
                hour: hour, delivered: try row.get(1), response: Rate(try row.get(2), of: try row.get(3)))
        }
        return hours
    }
}
