extension Recount {
    /// Where in a story people leave. What pages were planned and reached the deliveries say; what was shown on them,
    /// the events.
    package static let storyPageFunnel = Recount(
        table: "story_page_funnel",
        key: storyKey + [Column("page_index")],
        values: Column.counts("planned", "reached", "shown", "views", "clicked", "exited", "dwell_ms", "dwells"),
        sql: """
            SELECT
                app, day, category, campaign, page_index::smallint AS page_index, planned, reached,
                coalesce(shown, 0) AS shown, coalesce(views, 0) AS views, coalesce(clicked, 0) AS clicked, exited,
                coalesce(dwell_ms, 0) AS dwell_ms, coalesce(dwells, 0) AS dwells
            FROM (
                SELECT
                    app, day, category, campaign, page_index,
                    count(*) AS planned,
                    count(*) FILTER (WHERE furthest >= page_index) AS reached,
                    count(*) FILTER (WHERE furthest = page_index AND story_exit = 4) AS exited
                FROM recount_delivery CROSS JOIN LATERAL generate_series(0, pages - 1) AS page_index
                GROUP BY app, day, category, campaign, page_index
            ) AS planned
            LEFT JOIN (
                SELECT
                    app, day, category, campaign, page_index,
                    count(*) FILTER (WHERE views > 0) AS shown,
                    sum(views)::bigint AS views,
                    count(*) FILTER (WHERE clicked) AS clicked,
                    sum(dwell_ms)::bigint AS dwell_ms,
                    sum(dwells)::bigint AS dwells
                FROM recount_page GROUP BY app, day, category, campaign, page_index
            ) AS shown USING (app, day, category, campaign, page_index)
            """,
        behind: "\(sameStory) AND d.pages > cell.page_index")
}
