extension RecountTables {
    /// The first tap not before the earliest receipt times the action, if it is among the delivery's first 1,000 taps.
    static func taps(of copy: LogCopy) -> String {
        return """
            WITH placed AS (
                SELECT
                    scatter, app, install_id, notification_key, occurred_at, action_id, activation,
                    row_number() OVER (
                        PARTITION BY install_id, notification_key, app
                        ORDER BY occurred_at, seq, event_id, device_at) AS place
                FROM recount_event WHERE type = 5
            )
            SELECT
                d.app, d.install_id, d.notification_key, d.day, d.category, d.sole, d.received, e.action_id,
                count(*) AS taps,
                count(*) FILTER (WHERE e.activation = 1) AS foreground_taps,
                (extract(epoch FROM min(e.occurred_at) FILTER (WHERE e.occurred_at >= d.first_receipt_at AND e.place <= 1000)
                    - d.first_receipt_at) * 1000000)::bigint AS microseconds
            FROM placed AS e
            JOIN recount_delivery AS d ON \(ofDelivery(copy))
            WHERE d.action_tapped
            GROUP BY
                d.app, d.install_id, d.notification_key, d.day, d.category, d.sole, d.received, d.first_receipt_at, e.action_id
            """
    }
}
