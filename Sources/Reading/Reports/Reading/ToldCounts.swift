internal import Postgres
internal import Values

/// What reports said of days when those were about as old as the report's day is now, give or take an hour or a tenth
/// of its age.
struct ToldCounts {
    enum Part {
        case days, categories
    }

    var day: CivilDate
    /// Nil for the day as a whole.
    var category: String?
    /// Only what the rates of response and engagement and the coverage are made of.
    var counts: FunnelCounts

    /// Of each day the report whose age fits best, if any fits.
    static func read(
        _ days: [CivilDate], _ scope: ReportScope, of part: Part, on connection: inout Connection
    ) throws(PostgresError) -> [ToldCounts] {
        try connection.query(
            """
            WITH fitting AS (
                SELECT DISTINCT ON (day) app, day, position, made_at, delivered, received, received_responded,
                    received_engaged
                FROM (
                    SELECT
                        r.*,
                        extract(epoch FROM \(scope.now) - ((\(scope.day) + 1)::timestamp AT TIME ZONE \(scope.timeZone)))
                            AS age,
                        extract(epoch FROM r.made_at - ((r.day + 1)::timestamp AT TIME ZONE \(scope.timeZone)))
                            AS told_age
                    FROM analytics.reports AS r
                    WHERE r.app = \(scope.app) AND r.day = ANY (\(days)) AND r.day <> \(scope.day)
                        -- With other buttons that close, engagement meant something else.
                        AND (\(scope.closingButtons) IS NULL OR r.closing_buttons = \(scope.closingButtons))
                ) AS reports
                WHERE told_age >= 0 AND abs(told_age - age) <= greatest(3600, age / 10)
                ORDER BY day, abs(told_age - age), position DESC
            )
            SELECT day, NULL, delivered, received, received_responded, received_responded - received_engaged
            FROM fitting WHERE NOT \(part == .categories)
            UNION ALL
            SELECT day, told.category, told.delivered, told.received, told.received_responded,
                told.received_responded - told.received_engaged
            FROM fitting JOIN analytics.report_categories AS told USING (app, day, position, made_at)
            WHERE \(part == .categories)
            """
        ).map { row throws(PostgresError) in
            ToldCounts(
                day: try row.get(0), category: try row.optional(1),
                counts: FunnelCounts(
                    delivered: try row.get(2), received: try row.get(3), receivedResponded: try row.get(4),
                    receivedClosed: try row.get(5)))
        }
    }
}
