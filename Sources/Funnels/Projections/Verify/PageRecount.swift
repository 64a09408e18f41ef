extension RecountTables {
    /// Reads the first 1,000 story events of a delivery. A page dwells until the next start, page, tap or finish, if
    /// that is no start and comes within 60 s. The page advances if another page ended its dwell: one further on whose
    /// cause is neither turning back (4) nor a beginning (1), or a different one whose cause is by itself (2), a tap
    /// (3) or a loop (5).
    static func pages(of copy: LogCopy) -> String {
        return """
            WITH placed AS (
                SELECT
                    d.delivery, e.occurred_at, e.seq, e.event_id, e.device_at, e.type, e.page_index, e.cause, e.declared_ms,
                    row_number() OVER story AS place
                FROM recount_event AS e JOIN recount_delivery AS d ON \(ofDelivery(copy))
                WHERE e.type BETWEEN 6 AND 10 AND d.story_exit <> 0
                WINDOW story AS (PARTITION BY d.delivery ORDER BY e.occurred_at, e.seq, e.event_id, e.device_at)
            ), followed AS (
                SELECT
                    delivery, type, page_index, declared_ms, lead(type) OVER story AS next_type,
                    lead(page_index) OVER story AS next_page, lead(cause) OVER story AS next_cause,
                    (extract(epoch FROM lead(occurred_at) OVER story - occurred_at) * 1000000)::bigint AS dwell
                FROM placed WHERE place <= 1000 AND type <> 10
                WINDOW story AS (PARTITION BY delivery ORDER BY occurred_at, seq, event_id, device_at)
            ), turned AS (
                SELECT *, dwells AND next_type = 7 AND CASE
                    WHEN next_cause IN (1, 4) THEN false
                    WHEN next_cause IN (2, 3, 5) THEN next_page <> page_index
                    ELSE next_page > page_index END AS advances
                FROM (SELECT *, type = 7 AND next_type <> 6 AND dwell <= 60000000 AS dwells FROM followed) AS followed
                WHERE type IN (7, 8)
            )
            SELECT
                delivery, type, page_index, CASE WHEN dwells THEN dwell END AS dwell,
                CASE
                    WHEN advances IS NOT TRUE THEN NULL
                    WHEN next_cause IN (2, 5) THEN 'auto'
                    WHEN next_cause = 3 THEN 'manual'
                    WHEN declared_ms IS NULL THEN 'untold'
                    WHEN abs(dwell - declared_ms::numeric * 1000) <= 400000 THEN 'auto'
                    ELSE 'manual'
                END AS advance
            FROM turned
            """
    }
}
