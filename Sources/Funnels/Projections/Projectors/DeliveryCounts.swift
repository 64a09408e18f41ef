/// The counts of deliveries that the funnels by category, campaign, thread and version share.
enum DeliveryCounts {
    static let columns: [TallyTable.Column] = [
        .count(
            "delivered",
            "Deliveries with any event. This is less than Apple delivered: "
                + "an untouched push without a receipt leaves no trace"
        ),
        .count("received", "Deliveries with a receipt"),
        .derived(
            "inferred", "(f.delivered - f.received)::bigint",
            "Deliveries known only from what people did with them: delivered - received"),
        .count("expanded", "Deliveries whose content extension was shown"),
        .count(
            "opened",
            "Deliveries where the notification itself was tapped. An opening by the app's icon is not reported"),
        .count("action_tapped", "Deliveries with a tap of a button"),
        .count("story_action_tapped", "Deliveries with a tap of a story page's call to action"),
        .count("responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
        .count("received_responded", "Deliveries that responded and have a receipt"),
        .derived(
            "engaged", "(f.responded - f.closed)::bigint",
            """
            Deliveries that responded otherwise than by a tap of nothing but a button that closes or declines: responded without \
            the sole taps of buttons that are now registered with the answer close or decline. A button that is not registered, or \
            has no answer, engages
            """),
        .derived(
            "received_engaged", "(f.received_responded - f.received_closed)::bigint",
            "Deliveries that are engaged and have a receipt"),
        .count(
            "dismissed",
            "Deliveries dismissed explicitly. iOS reports this only for categories with a custom dismiss action"),
        .count("unanswered", "Deliveries neither responded to nor dismissed, as far as iOS reports"),
        .count("suppressed", "Unanswered deliveries that the app, being in the foreground, chose not to show"),
        .count("media_attached", "Deliveries whose media was attached or prefetched"),
    ]

    static let rates: [TallyTable.Column] = [
        .rate(
            "response_rate", "received_responded", "received",
            """
            received_responded / received. The base is what is known to have arrived: over delivered, the rate would drift to 1 \
            when receipts fail. Null if received is 0
            """),
        .derived(
            "engagement_rate", "round((f.received_responded - f.received_closed) / nullif(f.received, 0), 4)",
            """
            received_engaged / received: response_rate without those who only closed or declined. It changes when registration does. \
            Null if received is 0
            """),
        .rate(
            "receipt_coverage", "received", "delivered",
            """
            received / delivered: the share of known deliveries with a receipt. If it is low, response_rate rests on few deliveries
            """),
    ]

    /// How many of the columns are stored.
    static let count = columns.count { $0.sql == nil }

    /// What one delivery adds: a bit for each stored column in which it counts.
    static func bits(of flags: DeliveryFlags) -> UInt32 {
        var bits: UInt32 = 1
        if flags.contains(.received) { bits |= 1 << 1 }
        if flags.contains(.expanded) { bits |= 1 << 2 }
        if flags.contains(.opened) { bits |= 1 << 3 }
        if flags.contains(.actionTapped) { bits |= 1 << 4 }
        if flags.contains(.storyActionTapped) { bits |= 1 << 5 }
        if flags.isResponded { bits |= 1 << 6 }
        if flags.isResponded, flags.contains(.received) { bits |= 1 << 7 }
        if flags.contains(.dismissed) { bits |= 1 << 8 }
        if flags.isUnanswered { bits |= 1 << 9 }
        if flags.contains(.suppressed) { bits |= 1 << 10 }
        if flags.contains(.mediaAttached) { bits |= 1 << 11 }
        return bits
    }

    /// The same counts in SQL, over the rows of `recount_delivery`.
    static func recount(by keys: String, and more: String = "") -> String {
        """
        SELECT
            app, day, \(keys),
            count(*) AS delivered,
            count(*) FILTER (WHERE received) AS received,
            count(*) FILTER (WHERE expanded) AS expanded,
            count(*) FILTER (WHERE opened) AS opened,
            count(*) FILTER (WHERE action_tapped) AS action_tapped,
            count(*) FILTER (WHERE story_action_tapped) AS story_action_tapped,
            count(*) FILTER (WHERE responded) AS responded,
            count(*) FILTER (WHERE received_responded) AS received_responded,
            count(*) FILTER (WHERE dismissed) AS dismissed,
            count(*) FILTER (WHERE unanswered) AS unanswered,
            count(*) FILTER (WHERE suppressed) AS suppressed,
            count(*) FILTER (WHERE media_attached) AS media_attached\(more)
        FROM recount_delivery WHERE NOT silent GROUP BY app, day, \(keys)
        """
    }
}

extension Projector {
    /// SQL: the delivery `d` has the app and day of the row `cell`.
    package static var sameDay: String { "d.app = cell.app AND d.day = cell.day" }
    package static var noneSilent: String { DeliveryFlags.silent.none }
}

/// Keys that several funnels share.
extension TallyTable.Key {
    static let category = word("category", "Notification category; '' for deliveries without one")
    static let campaign = word("campaign", "Campaign; '' for deliveries without one")
    static let variant = word("variant", "Variant of the campaign; '' for deliveries without one")
}
