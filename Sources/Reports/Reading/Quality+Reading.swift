internal import Postgres
internal import Telemetry

extension Quality {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Quality {
        let rows = try connection.query(
            """
            WITH quality AS MATERIALIZED (
                SELECT * FROM analytics.data_quality WHERE app = \(scope.app) AND day = \(scope.day)
            )
            SELECT * FROM (
                SELECT
                    NULL AS reason, coalesce(sum(rejected), 0)::bigint AS rejected, coalesce(sum(accepted), 0)::bigint,
                    coalesce(sum(duplicate), 0)::bigint, coalesce(sum(corrected), 0)::bigint,
                    coalesce(sum(clamped), 0)::bigint, coalesce(sum(late), 0)::bigint,
                    -- What clients say they dropped can be an absurd number.
                    least(coalesce(sum(client_dropped), 0), 9223372036854775807)::bigint
                FROM quality
                UNION ALL
                SELECT refused.reason, sum(refused.events::bigint)::bigint, 0, 0, 0, 0, 0, 0
                FROM quality CROSS JOIN jsonb_each_text(rejected_by_reason) AS refused (reason, events)
                GROUP BY refused.reason
            ) AS part
            ORDER BY rejected DESC, reason COLLATE "C"
            """)
        var quality = Quality()
        for row in rows {
            if let reason: String = try row.optional(0) {
                quality.rejectedByReason.append(Reason(reason: reason, events: try row.get(1)))
                continue
            }
            quality.rejected = try row.get(1)
            quality.accepted = try row.get(2)
            quality.duplicate = try row.get(3)
            quality.corrected = try row.get(4)
            quality.clamped = try row.get(5)
            quality.late = try row.get(6)
            quality.clientDropped = try row.get(7)
        }
        return quality
    }
}
