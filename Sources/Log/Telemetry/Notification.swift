package import Values

/// Which notification an event is about, as its sender and its receiver name it.
package struct Notification: Hashable, Sendable {
    /// As the client sent it; `key` holds the normalised form.
    package var fcmMessageID: String?
    /// The provider's own id of one delivery, or the id that the client makes for a repeating local request.
    package var deliveryID: String?
    /// The request identifier.
    package var id: String?
    package var category: String?
    package var thread: String?
    package var campaign: String?
    package var variant: String?
    package var analyticsLabel: String?
    package var topic: String?
    package var apnsID: String?
    package var collapseID: String?
    package var interruptionLevel: String?
    package var origin: Origin?
    /// Whether the payload has anything to show.
    package var alert: Bool?
    package var sentAt: Timestamp?
    /// From 0 to 1.
    package var relevanceScore: Double?
    package var targetContentID: String?
    package var summaryArgument: String?

    package init(
        fcmMessageID: String? = nil, deliveryID: String? = nil, id: String? = nil, category: String? = nil,
        thread: String? = nil, campaign: String? = nil, variant: String? = nil, analyticsLabel: String? = nil,
        topic: String? = nil, apnsID: String? = nil, collapseID: String? = nil, interruptionLevel: String? = nil,
        origin: Origin? = nil, alert: Bool? = nil, sentAt: Timestamp? = nil, relevanceScore: Double? = nil,
        targetContentID: String? = nil, summaryArgument: String? = nil
    ) {
        self.fcmMessageID = fcmMessageID
        self.deliveryID = deliveryID
        self.id = id
        self.category = category
        self.thread = thread
        self.campaign = campaign
        self.variant = variant
        self.analyticsLabel = analyticsLabel
        self.topic = topic
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.interruptionLevel = interruptionLevel
        self.origin = origin
        self.alert = alert
        self.sentAt = sentAt
        self.relevanceScore = relevanceScore
        self.targetContentID = targetContentID
        self.summaryArgument = summaryArgument
    }

    /// The text that, with app and install, names the delivery: the normalised FCM message id, else the delivery id,
    /// else the request identifier. Nil only for a notification without any of them, which no stored event has.
    package var key: String? {
        fcmMessageID.map(FCMMessageID.normalized) ?? deliveryID ?? id
    }
}

/// Whether a server or the app itself asked for the notification.
package enum Origin: Int16, WireEnum {
    case remote = 1
    case local

    package var wire: String {
        switch self {
        case .remote: "remote"
        case .local: "local"
        }
    }
}
