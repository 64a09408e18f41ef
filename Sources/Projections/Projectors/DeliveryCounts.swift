/// The columns that the funnels by category, campaign, thread and version share: how many deliveries are what.
enum DeliveryCounts {
    static let columns: [TallyTable.Column] = [
        .count(
            "delivered",
            "Deliveries of which we hold any event. Not what Apple delivered: an untouched push without a receipt leaves no trace"
        ),
        .count("received", "Deliveries with a receipt on file"),
        .derived(
            "inferred", "(f.delivered - f.received)::bigint",
            "Deliveries known only by what was done with them: delivered - received"),
        .count("expanded", "Deliveries whose content extension was shown"),
        .count(
            "opened", "Deliveries that were tapped themselves. An opening by the app's icon is not reported"),
        .count("action_tapped", "Deliveries with a tap of a button"),
        .count("story_action_tapped", "Deliveries with a tap of a story page's call to action"),
        .count("responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
        .count("received_responded", "Deliveries that responded and have a receipt"),
        .count(
            "dismissed",
            "Deliveries dismissed explicitly. iOS reports it only for categories with a custom dismiss action"),
        .count("unanswered", "Deliveries neither responded to nor dismissed, as far as iOS tells"),
        .count("suppressed", "Unanswered deliveries that the app in the foreground let show to nobody"),
        .count("media_attached", "Deliveries whose media was attached or prefetched"),
    ]

    static let rates: [TallyTable.Column] = [
        .rate(
            "response_rate", "received_responded", "received",
            """
            received_responded / received: over what is known to have arrived, since over delivered it would drift to 1 where \
            receipts fail. Null where received is 0
            """),
        .rate(
            "receipt_coverage", "received", "delivered",
            """
            received / delivered: how much of what we know of has a receipt. Where it is low, response_rate stands on few
            """),
    ]

    /// How many of the columns are stored.
    static let count = columns.count { $0.sql == nil }

    /// One delivery's part: a bit for each stored column in which it counts.
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

    /// The same of the rows of `recount_delivery`.
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
    /// A delivery `d` is of the app and the day of a row `cell`.
    package static var sameDay: String { "d.app = cell.app AND d.day = cell.day" }
    package static var noneSilent: String { "d.flags & 1 = 0" }
}

/// Keys that several funnels share.
extension TallyTable.Key {
    static let category = word("category", "Notification category, '' for deliveries that name none")
    static let campaign = word("campaign", "Campaign, '' for deliveries that name none")
}
