package import Values

/// One thing that happened to one notification on one install, with all members valid.
///
/// An event is identified by (app, install, id, device time): a retry repeats all of them.
package struct Event: Sendable {
    package var id: UUID
    /// The device's clock, raw.
    package var deviceAt: Timestamp
    /// When it happened, as far as we know. Every number is computed from this.
    package var occurredAt: Timestamp
    package var receivedAt: Timestamp
    package var timeSource: TimeSource
    package var seq: Int64?
    package var source: Source
    package var notification: Notification
    package var interaction: Interaction
    /// What no column holds, as the text of a JSON object for `jsonb`; nil if there is nothing.
    package var extra: [UInt8]?

    package init(
        id: UUID, deviceAt: Timestamp, occurredAt: Timestamp, receivedAt: Timestamp, timeSource: TimeSource,
        seq: Int64? = nil, source: Source, notification: Notification, interaction: Interaction, extra: [UInt8]? = nil
    ) {
        self.id = id
        self.deviceAt = deviceAt
        self.occurredAt = occurredAt
        self.receivedAt = receivedAt
        self.timeSource = timeSource
        self.seq = seq
        self.source = source
        self.notification = notification
        self.interaction = interaction
        self.extra = extra
    }

    package var type: EventType { interaction.type }

    /// The text that, with app and install, names the delivery. Nil for an event about the install itself.
    package var notificationKey: String? { notification.key }
}
