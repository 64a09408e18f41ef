internal import Values

/// Per (app, day, campaign, variant): how long notifications took from the sender to the service extension, as far as
/// their events say when they were sent. The view adds those whose sending only the sender reported.
enum SendDelays: Projector {
    static let name = "send_delays"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name, keys: keys,
            columns: [
                .count(
                    "delayed",
                    """
                    Deliveries received by the service extension for which it is known when they were sent: an event gives sent_at, \
                    else it is the newest known send of the campaign and variant before the receipt
                    """),
                .count(
                    "negative",
                    "Deliveries in delayed that were received before they were sent, "
                        + "by the clocks of phone and sender. They count as 0"
                ),
            ], view: .byHand,
            recount: .init(
                """
                SELECT app, day, campaign, variant, count(*) AS delayed, count(*) FILTER (WHERE sending < 0) AS negative
                FROM recount_delivery WHERE sending IS NOT NULL GROUP BY app, day, campaign, variant
                """, behind: sent("true"))),
        TallyTable(
            "send_delay_times", keys: keys + [.number("bucket", "Bucket of the time from the sending to the receipt")],
            columns: [.count("deliveries", "Deliveries with a time in this bucket")], view: .none,
            recount: .init(
                """
                SELECT app, day, campaign, variant, \(bucket) AS bucket, count(*) AS deliveries
                FROM recount_delivery WHERE sending IS NOT NULL GROUP BY app, day, campaign, variant, \(bucket)
                """, behind: sent("\(bucket) = cell.bucket"))),
    ]

    private static let keys: [TallyTable.Key] = [.campaign, .variant]
    private static let bucket = TimeBuckets.sql("greatest(sending, 0)")

    private static func sent(_ condition: String) -> String {
        """
        \(sameDay) AND d.campaign = cell.campaign AND d.variant = cell.variant AND EXISTS (
            SELECT FROM recount_delivery AS r
            WHERE r.app = d.app AND r.install_id = d.install_id AND r.notification_key = d.notification_key
                AND r.sending IS NOT NULL AND \(condition))
        """
    }

    /// In buckets. The deliveries of which only the sender said when they were sent are in `sends.dated_delay`.
    static let counted = Counted([
        .table("send_delay_times", of: name, keys: tables[1].keys, counts: [("deliveries", "c.deliveries")]),
        .init(
            source: "sends.dated_delay", conditions: "true", keys: tables[1].keys,
            counts: [("delayed", "c.deliveries"), ("deliveries", "c.deliveries")]),
    ])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent, let received = facts.extensionAt, let sent = facts.sentAt else { return }
        let delay = received - sent
        let keys = Tally.Keys(facts.attributes.campaign, facts.attributes.variant)
        tallies[0].add(delay < 0 ? 0b11 : 0b01, times: weight, at: keys, of: delivery)
        var bucket = keys
        bucket[2] = Int32(TimeBuckets.bucket(ofMicroseconds: max(delay, 0)))
        tallies[1].add(1 as UInt32, times: weight, at: bucket, of: delivery)
    }
}
