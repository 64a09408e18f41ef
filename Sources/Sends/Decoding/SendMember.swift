internal import JSON

/// The members of a send.
enum SendMember: Int, CaseIterable {
    case id, campaign, variant, category, thread, topic, analyticsLabel, sentAt, recipients, messageIDs, payload

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .id: "id"
        case .campaign: "campaign"
        case .variant: "variant"
        case .category: "category"
        case .thread: "thread"
        case .topic: "topic"
        case .analyticsLabel: "analytics_label"
        case .sentAt: "sent_at"
        case .recipients: "recipients"
        case .messageIDs: "message_ids"
        case .payload: "payload"
        }
    }
}

extension SendMember {
    /// All names, for whoever compares them with a description.
    package static var names: [String] { allCases.map { "\($0.name)" } }
}
