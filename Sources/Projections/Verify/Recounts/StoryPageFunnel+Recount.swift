extension Recount {
    /// Where in a story people leave. What pages were planned and reached the deliveries say; what was shown on them, their
    /// first 1,000 story events. A page dwells until the next start, page, tap or finish, and a start leaves it without.
    package static let storyPageFunnel = Recount(
        table: "story_page_funnel",
        key: storyKey + [Column("page_index")],
        values: Column.counts("planned", "reached", "shown", "views", "clicked", "exited", "dwell_ms", "dwells"),
        sql: """
            WITH placed AS (
                SELECT
                    d.delivery, e.occurred_at, e.seq, e.event_id, e.device_at, e.type, e.page_index,
                    row_number() OVER story AS place
                FROM recount_event AS e JOIN recount_delivery AS d ON \(RecountTables.ofDelivery)
                WHERE e.type BETWEEN 6 AND 10 AND d.story_exit <> 0
                WINDOW story AS (PARTITION BY d.delivery ORDER BY e.occurred_at, e.seq, e.event_id, e.device_at)
            ), followed AS (
                SELECT *, lead(type) OVER story AS next_type, lead(occurred_at) OVER story - occurred_at AS dwell
                FROM placed WHERE place <= 1000 AND type <> 10
                WINDOW story AS (PARTITION BY delivery ORDER BY occurred_at, seq, event_id, device_at)
            ), turned AS (
                SELECT
                    *,
                    CASE WHEN type = 7 AND next_type <> 6 AND dwell <= interval '60 seconds'
                        THEN trunc(extract(epoch FROM dwell) * 1000)::bigint END AS dwell_ms
                FROM followed WHERE type IN (7, 8)
            ), paged AS (
                SELECT
                    delivery, page_index,
                    count(*) FILTER (WHERE type = 7) AS views,
                    bool_or(type = 8) AS clicked,
                    sum(dwell_ms) AS dwell_ms,
                    count(dwell_ms) AS dwells
                FROM turned GROUP BY delivery, page_index
            ), shown AS (
                SELECT
                    app, day, category, campaign, page_index,
                    count(*) FILTER (WHERE views > 0) AS shown,
                    sum(views)::bigint AS views,
                    count(*) FILTER (WHERE clicked) AS clicked,
                    coalesce(sum(dwell_ms), 0)::bigint AS dwell_ms,
                    sum(dwells)::bigint AS dwells
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
                coalesce(dwells, 0) AS dwells
            FROM planned LEFT JOIN shown USING (app, day, category, campaign, page_index)
            """,
        behind: "\(sameStory) AND d.pages > cell.page_index")
}
