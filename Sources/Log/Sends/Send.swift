internal import Telemetry
package import Values

/// One send, as reported by the sender: what was sent to how many, before anything arrived.
package struct Send: Hashable, Sendable {
    /// The sender's own name for it. A UUID is converted to lower case.
    package var id: String
    package var campaign: String?
    package var variant: String?
    package var category: String?
    package var thread: String?
    package var topic: String?
    package var analyticsLabel: String?
    /// Nil if the sender does not say; then the time of receipt counts.
    package var sentAt: Timestamp?
    package var recipients: Int64?
    /// Each once; nil if the sender gives none.
    package var messageIDs: [MessageID]?
    /// What was pushed, as JSON without spaces and without the members in `PayloadSecrets`.
    package var payload: [UInt8]?
    /// The story in the payload; nil if it has none.
    package var story: Story?

    /// A send of which only the name is known.
    package init(id: String) { self.id = id }

    /// A message id, compared by the part that all its spellings share.
    package struct MessageID: Hashable, Sendable {
        package let key: String
        /// As received.
        package let raw: String

        package init(_ raw: String) {
            self.raw = raw
            key = FCMMessageID.normalized(raw)
        }
    }
}

/// Limits for what a sender may report. A value over its bound is rejected by name, never cut.
package enum SendBounds {
    /// Sends of one envelope.
    package static let sends = 1000

    /// Message ids of one send.
    package static let messageIDs = 10_000

    /// How many one send may have gone to: more than there are devices, and so few that sums of them fit.
    package static let recipients: ClosedRange<Int64> = 0...1_000_000_000_000

    /// Bytes of a payload, written without spaces.
    package static let payload = 32 * 1024
}
