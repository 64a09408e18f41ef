internal import Foundation

extension Bellwether {
    /// One notification as its payload and its request describe it: what the events about it say of it.
    ///
    /// Make one with ``Bellwether/push(_:request:)``, and hand it to the doors.
    public struct Push: Sendable, Hashable {
        /// Firebase's message id as the payload spells it.
        var fcmMessageID: String?
        var deliveryID: String?
        /// The request's identifier.
        var identifier: String?
        var category: String?
        var thread: String?
        var campaign: String?
        /// The campaign's name in Firebase's composer. The service knows no such member and keeps it beside.
        var campaignName: String?
        var variant: String?
        var analyticsLabel: String?
        var topic: String?
        var interruptionLevel: String?
        var origin: Origin?
        /// Whether the payload shows something.
        var alert: Bool?
        var sentAt: Moment?

        var deliveredAt: Date?
        var summaryArgumentCount: Int?
        /// Whether the payload wakes the app: `content-available`.
        var wakesApp = false
        var media: MediaAddress = .none
        var story: StoryPlan = .missing
        /// The members that were left out because the service would not take them.
        var omitted: [String] = []

        /// What names the delivery, with app and install; nil for a notification that nothing can be told of.
        var key: String? { fcmMessageID ?? deliveryID ?? identifier }

        /// Whether all that names this push is an identifier that its sender chose for it, to replace one push by another:
        /// an `apns-collapse-id`. To a push without one the system gives a UUID.
        var isNamedByCollapseID: Bool {
            guard origin == .remote, fcmMessageID == nil, deliveryID == nil, let identifier else { return false }
            return UUID(uuidString: identifier) == nil
        }
    }
}

extension Bellwether.Push {
    /// The members of an event's `notification`.
    var members: [JSONValue.Field] {
        var fields: [JSONValue.Field] = []
        fields.add("fcm_message_id", fcmMessageID)
        fields.add("delivery_id", deliveryID)
        fields.add("id", identifier)
        fields.add("category", category)
        fields.add("thread", thread)
        fields.add("campaign", campaign)
        fields.add("variant", variant)
        fields.add("analytics_label", analyticsLabel)
        fields.add("topic", topic)
        fields.add("interruption_level", interruptionLevel)
        fields.add("origin", origin?.rawValue)
        fields.add("alert", alert)
        fields.add("sent_at", sentAt?.description)
        fields.add("campaign_name", campaignName)
        return fields
    }
}
