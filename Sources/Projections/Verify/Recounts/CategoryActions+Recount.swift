extension Recount {
    /// Which buttons were tapped, and how often.
    package static let categoryActions = Recount(
        table: "category_actions",
        key: actionKey,
        values: Column.counts("tapped_deliveries", "taps", "foreground_taps", "timed"),
        sql: """
            SELECT
                app, day, category, action_id,
                count(*) AS tapped_deliveries,
                sum(taps)::bigint AS taps,
                sum(foreground_taps)::bigint AS foreground_taps,
                count(microseconds) AS timed
            FROM recount_tap GROUP BY app, day, category, action_id
            """,
        behind: tapped(""))

    /// How soon they were tapped: times by bucket, those below 8 µs each its own, then eight to each doubling. The
    /// exponent is the place of the highest bit that is set.
    package static let categoryActionTimes = Recount(
        table: "category_action_times", projector: "category_actions",
        key: actionKey + [Column("bucket")],
        values: Column.counts("deliveries"),
        sql: """
            SELECT app, day, category, action_id, \(bucket)::smallint AS bucket, count(*) AS deliveries
            FROM (SELECT *, 64 - position(B'1' IN microseconds::bit(64)) AS exponent FROM recount_tap) AS recount_tap
            WHERE microseconds IS NOT NULL
            GROUP BY app, day, category, action_id, \(bucket)
            """,
        behind: tapped(
            """
            AND (SELECT \(bucket) FROM (SELECT 64 - position(B'1' IN t.microseconds::bit(64)) AS exponent) AS of_tap)
                = cell.bucket
            """))

    private static let actionKey = [
        Column("app", .app), Column("day"), Column("category", .word), Column("action_id", .word),
    ]

    private static let bucket = """
        CASE WHEN microseconds < 8 THEN microseconds
            ELSE (exponent - 2) * 8 + (microseconds >> (exponent - 3) & 7) END
        """

    private static func tapped(_ condition: String) -> String {
        """
        d.app = cell.app AND d.day = cell.day AND d.category = cell.category
            AND EXISTS (
                SELECT FROM recount_tap AS t
                WHERE t.app = d.app AND t.install_id = d.install_id AND t.notification_key = d.notification_key
                    AND t.action_id = cell.action_id \(condition))
        """
    }
}
