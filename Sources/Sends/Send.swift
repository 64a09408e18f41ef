internal import Telemetry
package import Values

/// One send, as the sender tells it: what went out to how many, before anything arrived anywhere.
package struct Send: Hashable, Sendable {
    /// The sender's own name for it. A UUID is in lower case, whatever case it came in.
    package var id: String
    package var campaign: String?
    package var variant: String?
    package var category: String?
    package var thread: String?
    package var topic: String?
    package var analyticsLabel: String?
    /// Nil where the sender does not say: then it is when the send was received.
    package var sentAt: Timestamp?
    package var recipients: Int64?
    /// Each once; nil where the sender tells none.
    package var messageIDs: [MessageID]?
    /// What was pushed, as JSON without spaces, without the members that `PayloadSecrets` names.
    package var payload: [UInt8]?
    /// The story in the payload; nil where it has none.
    package var story: Story?

    /// A send of which nothing but its name is known.
    package init(id: String) { self.id = id }

    /// A message id, known by what all of its spellings share.
    package struct MessageID: Hashable, Sendable {
        package let key: String
        /// As it came.
        package let raw: String

        package init(_ raw: String) {
            self.raw = raw
            key = FCMMessageID.normalized(raw)
        }
    }
}

/// How much a sender may tell. What is over a bound is refused by name, never cut.
package enum SendBounds {
    /// Sends of one envelope.
    package static let sends = 1000

    /// Message ids of one send.
    package static let messageIDs = 10_000

    /// Bytes of a payload, written without spaces.
    package static let payload = 32 * 1024
}
