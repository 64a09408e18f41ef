/// The columns that the per-category, per-thread and per-version funnels share.
package struct DeliveryCounts: Hashable, Sendable {
    /// Deliveries of which we hold any event: not what Apple delivered.
    package let delivered: Int
    /// A receipt on file.
    package let received: Int
    package let expanded: Int
    package let opened: Int
    package let actionTapped: Int
    package let storyActionTapped: Int
    package let responded: Int
    package let receivedResponded: Int
    package let dismissed: Int
    package let unanswered: Int
    package let suppressed: Int
    package let mediaAttached: Int

    /// Counts deliveries that are not silent.
    init(of deliveries: [Delivery]) {
        let facts = deliveries.map(\.facts)
        delivered = facts.count
        received = facts.count { $0.received }
        expanded = facts.count { $0.expanded }
        opened = facts.count { $0.opened }
        actionTapped = facts.count { $0.actionTapped }
        storyActionTapped = facts.count { $0.storyActionTapped }
        responded = facts.count { $0.responded }
        receivedResponded = facts.count { $0.receivedResponded }
        dismissed = facts.count { $0.dismissed }
        unanswered = facts.count { $0.unanswered }
        suppressed = facts.count { $0.suppressed }
        mediaAttached = facts.count { $0.mediaAttached }
    }

    /// Delivered, though no receipt says so.
    package var inferred: Int { delivered - received }

    /// Over what is known to have arrived.
    package var responseRate: Rate { Rate(receivedResponded, of: received) }

    package var receiptCoverage: Rate { Rate(received, of: delivered) }

    static var columns: [Column<DeliveryCounts>] {
        [
            Column("delivered", \.delivered), Column("received", \.received), Column("inferred", \.inferred),
            Column("expanded", \.expanded), Column("opened", \.opened), Column("action_tapped", \.actionTapped),
            Column("story_action_tapped", \.storyActionTapped), Column("responded", \.responded),
            Column("received_responded", \.receivedResponded), Column("dismissed", \.dismissed),
            Column("unanswered", \.unanswered), Column("suppressed", \.suppressed),
            Column("media_attached", \.mediaAttached),
        ]
    }
}
