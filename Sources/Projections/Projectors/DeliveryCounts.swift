/// The columns that the funnels by category, campaign, thread and version share: how many deliveries are what.
enum DeliveryCounts {
    static let columns = [
        "delivered", "received", "expanded", "opened", "action_tapped", "story_action_tapped", "responded",
        "received_responded", "dismissed", "unanswered", "suppressed", "media_attached",
    ]

    /// One delivery's part: a bit for each column in which it counts.
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
}
