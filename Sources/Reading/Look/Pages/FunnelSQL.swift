internal import Values

/// The pieces of SQL that several pages ask with.
enum FunnelSQL {
    /// The sums that people compare, of rows of any funnel of deliveries.
    static let sums: Query = """
        sum(delivered) AS delivered, sum(received) AS received, sum(received_responded) AS received_responded,
            sum(received_engaged) AS received_engaged,
            round(sum(received) / nullif(sum(delivered), 0), 6) AS receipt_coverage,
            round(sum(received_responded) / nullif(sum(received), 0), 6) AS response_rate,
            round(sum(received_engaged) / nullif(sum(received), 0), 6) AS engagement_rate
        """

    /// All steps of the funnel.
    static let steps: Query = """
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
            sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
            sum(responded) AS responded, sum(received_responded) AS received_responded,
            sum(received_engaged) AS received_engaged, sum(dismissed) AS dismissed, sum(unanswered) AS unanswered,
            sum(suppressed) AS suppressed, round(sum(received) / nullif(sum(delivered), 0), 6) AS receipt_coverage,
            round(sum(received_responded) / nullif(sum(received), 0), 6) AS response_rate,
            round(sum(received_engaged) / nullif(sum(received), 0), 6) AS engagement_rate
        """

    static let byDay: Query = "string_agg(day || '=' || delivered, ' ' ORDER BY day) AS by_day"

    /// A moment as the clocks of the app's zone showed it: a day's deliveries were received on that day. The column
    /// itself has the same moment for machines.
    static func local(_ moment: Query, _ scope: Scope) -> Query {
        "to_char(\(moment) AT TIME ZONE \(scope.timeZone), 'YYYY-MM-DD HH24:MI:SS')"
    }

    /// That a name has a text in it; nothing if nobody looks for one.
    static func having(_ search: String?, in column: Query) -> Query {
        search.map { " AND strpos(lower(\(column)), lower(\($0))) > 0" } ?? ""
    }

    static func during(_ days: DayRange) -> Query {
        days.count == 1 ? "day = \(days.first)" : "day BETWEEN \(days.first) AND \(days.last)"
    }

    /// The chosen days and those that they are compared with, a row each.
    static func compared(
        _ scope: Scope, _ sums: Query = steps, from view: Query, where condition: Query
    ) -> Query {
        """
        SELECT 'chosen' AS days, \(sums)
        FROM \(view) WHERE \(condition) AND \(during(scope.days))
        UNION ALL
        SELECT 'compared', \(sums)
        FROM \(view) WHERE \(condition) AND \(during(scope.compared))
        """
    }

    /// Day by day, with what is usual for each (the least and the greatest of the same weekday in the four weeks
    /// before, where at least three of them are known) and what the first final report on it said.
    static func trend(_ scope: Scope, from view: Query, where condition: Query, told app: String?) -> Query {
        let days = DayRange(scope.days.first.advanced(by: -28), scope.days.last)
        let (columns, join): (Query, Query) =
            app.map { app in
                (
                    ", told.delivered AS told_delivered, told.received AS told_received, "
                        + "told.response_rate AS told_response_rate",
                    """

                    LEFT JOIN (
                        SELECT DISTINCT ON (day) day, delivered, received, response_rate
                        FROM analytics.reports WHERE app = \(app) AND final AND \(during(scope.days))
                            ORDER BY day, position, made_at
                    ) AS told USING (day)
                    """
                )
            } ?? ("", "")
        return """
            WITH daily AS (
                SELECT day, \(sums)
                FROM \(view)
                WHERE \(condition) AND \(during(days))
                GROUP BY day
            )
            SELECT day, d.delivered, d.received, d.received_responded, d.received_engaged, d.receipt_coverage,
                d.response_rate, d.engagement_rate, usual.*\(columns)
            FROM daily AS d
            LEFT JOIN LATERAL (
                SELECT min(u.delivered) AS delivered_low, max(u.delivered) AS delivered_high,
                    min(u.response_rate) AS response_low, max(u.response_rate) AS response_high,
                    min(u.engagement_rate) AS engagement_low, max(u.engagement_rate) AS engagement_high,
                    min(u.receipt_coverage) AS coverage_low, max(u.receipt_coverage) AS coverage_high
                FROM daily AS u WHERE u.day IN (d.day - 7, d.day - 14, d.day - 21, d.day - 28) HAVING count(*) >= 3
            ) AS usual ON true\(join)
            WHERE \(during(scope.days))
            ORDER BY day
            """
    }

    /// Week by week.
    static func weeks(_ scope: Scope, from view: Query, where condition: Query) -> Query {
        """
        SELECT date_trunc('week', day)::date AS day, \(sums)
        FROM \(view)
        WHERE \(condition) AND \(during(scope.days))
        GROUP BY 1 ORDER BY 1
        """
    }
}
