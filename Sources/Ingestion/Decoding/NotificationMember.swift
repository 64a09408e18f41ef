import JSON

/// The members of an event's `notification`.
enum NotificationMember: UInt8, MemberName {
    case fcmMessageID, deliveryID, id, category, thread, campaign, variant, analyticsLabel, topic, apnsID, collapseID
    case interruptionLevel, origin, alert, sentAt

    /// Those that say which notification it is: one of them must be there.
    static let identities = NotificationMember.fcmMessageID.bit | deliveryID.bit | id.bit

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .fcmMessageID: "fcm_message_id"
        case .deliveryID: "delivery_id"
        case .id: "id"
        case .category: "category"
        case .thread: "thread"
        case .campaign: "campaign"
        case .variant: "variant"
        case .analyticsLabel: "analytics_label"
        case .topic: "topic"
        case .apnsID: "apns_id"
        case .collapseID: "collapse_id"
        case .interruptionLevel: "interruption_level"
        case .origin: "origin"
        case .alert: "alert"
        case .sentAt: "sent_at"
        }
    }
}
