extension Recount {
    /// Where in a story people turn and leave. What pages were planned and reached the deliveries say; what was shown on
    /// them, their first 1,000 story events.
    package static let storyPageFunnel = Recount(
        table: "story_page_funnel",
        key: storyKey + [Column("page_index")],
        values: Column.counts(
            "planned", "reached", "shown", "views", "clicked", "exited", "dwell_ms", "dwells", "auto_advances",
            "manual_advances"),
        sql: """
            WITH paged AS (
                SELECT
                    delivery, page_index,
                    count(*) FILTER (WHERE type = 7) AS views,
                    bool_or(type = 8) AS clicked,
                    sum(dwell / 1000) AS dwell_ms,
                    count(dwell) AS dwells,
                    count(*) FILTER (WHERE advance = 'auto') AS auto_advances,
                    count(*) FILTER (WHERE advance = 'manual') AS manual_advances
                FROM recount_page GROUP BY delivery, page_index
            ), shown AS (
                SELECT
                    app, day, category, campaign, page_index,
                    count(*) FILTER (WHERE views > 0) AS shown,
                    sum(views)::bigint AS views,
                    count(*) FILTER (WHERE clicked) AS clicked,
                    coalesce(sum(dwell_ms), 0)::bigint AS dwell_ms,
                    sum(dwells)::bigint AS dwells,
                    sum(auto_advances)::bigint AS auto_advances,
                    sum(manual_advances)::bigint AS manual_advances
                FROM paged JOIN recount_delivery USING (delivery) WHERE story_exit <> 0
                GROUP BY app, day, category, campaign, page_index
            ), alike AS (
                SELECT app, day, category, campaign, pages, furthest, story_exit, count(*) AS deliveries
                FROM recount_delivery WHERE pages > 0
                GROUP BY app, day, category, campaign, pages, furthest, story_exit
            ), planned AS (
                SELECT
                    app, day, category, campaign, page_index::smallint AS page_index,
                    sum(deliveries)::bigint AS planned,
                    coalesce(sum(deliveries) FILTER (WHERE furthest >= page_index), 0)::bigint AS reached,
                    coalesce(sum(deliveries) FILTER (WHERE furthest = page_index AND story_exit = 4), 0)::bigint AS exited
                FROM alike CROSS JOIN LATERAL generate_series(0, pages - 1) AS page_index
                GROUP BY app, day, category, campaign, page_index
            )
            SELECT
                app, day, category, campaign, page_index, planned, reached, coalesce(shown, 0) AS shown,
                coalesce(views, 0) AS views, coalesce(clicked, 0) AS clicked, exited, coalesce(dwell_ms, 0) AS dwell_ms,
                coalesce(dwells, 0) AS dwells, coalesce(auto_advances, 0) AS auto_advances,
                coalesce(manual_advances, 0) AS manual_advances
            FROM planned LEFT JOIN shown USING (app, day, category, campaign, page_index)
            """,
        behind: "\(sameStory) AND d.pages > cell.page_index")

    /// Advances of which the events do not tell how they came about, by how long the page stood: the gap is twice the
    /// whole tenths of a second, and one more where something is left over.
    package static let storyPageGaps = Recount(
        table: "story_page_gaps", projector: "story_page_funnel",
        key: storyKey + [Column("page_index"), Column("gap")],
        values: Column.counts("advances"),
        sql: """
            SELECT app, day, category, campaign, page_index, \(gap) AS gap, count(*) AS advances
            FROM recount_page JOIN recount_delivery USING (delivery) WHERE advance = 'untold'
            GROUP BY app, day, category, campaign, page_index, \(gap)
            """,
        behind: """
            \(sameStory) AND EXISTS (
                SELECT FROM recount_page JOIN recount_delivery AS r USING (delivery)
                WHERE r.app = d.app AND r.install_id = d.install_id AND r.notification_key = d.notification_key
                    AND advance = 'untold' AND page_index = cell.page_index AND \(gap) = cell.gap)
            """)

    private static let gap = "(dwell / 100000 * 2 + CASE WHEN dwell % 100000 = 0 THEN 0 ELSE 1 END)::smallint"
}
