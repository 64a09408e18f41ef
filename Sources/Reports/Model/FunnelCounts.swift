/// The columns that every per-category funnel has, summed.
package struct FunnelCounts: Hashable, Sendable {
    package var delivered: Int64 = 0
    package var received: Int64 = 0
    package var expanded: Int64 = 0
    package var opened: Int64 = 0
    package var actionTapped: Int64 = 0
    package var storyActionTapped: Int64 = 0
    package var responded: Int64 = 0
    package var receivedResponded: Int64 = 0
    package var dismissed: Int64 = 0
    package var unanswered: Int64 = 0
    package var suppressed: Int64 = 0
    package var mediaAttached: Int64 = 0

    package init() {}

    package var inferred: Int64 { delivered - received }
    package var responseRate: Rate { Rate(receivedResponded, of: received) }
    package var receiptCoverage: Rate { Rate(received, of: delivered) }
}
