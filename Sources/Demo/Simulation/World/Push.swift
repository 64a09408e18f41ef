internal import Telemetry
internal import Values

/// A notification of a campaign on one phone.
struct Push: Sendable {
    let campaign: Campaign
    /// The part of its FCM message id that is the same in all spellings. It is also its only identity here.
    let number: Int64
    let arrivedAt: Timestamp
    let isSecondVariant: Bool
    /// The kind of its media, if it has any.
    let media: MediaKind?
    var hasReceipt = false
    /// Whether it was found in the notification centre and reported.
    var isSwept = false

    /// The three spellings that Firebase uses for a message id.
    enum Spelling { case phone, resource, digits }

    /// The notification as a phone describes it.
    func notification(_ spelling: Spelling, project: String) -> Notification {
        let series = campaign.series
        let isSilent = series.kind == .silent
        var notification = Notification(
            id: identifier, category: isSilent || campaign.category.name.isEmpty ? nil : campaign.category.name,
            thread: campaign.thread, campaign: campaign.name,
            variant: series.hasVariants ? (isSecondVariant ? "b" : "a") : nil, analyticsLabel: "push-\(campaign.name)",
            topic: series.topic, collapseID: series.topic.map { "\($0)-\(number % 7)" },
            interruptionLevel: series.interruptionLevel, origin: .remote, alert: !isSilent, sentAt: campaign.sentAt)
        if series.kind == .local {
            // The request's identifier is always the same; the time makes it one delivery.
            notification.id = campaign.name
            notification.deliveryID = "\(campaign.name)@\(arrivedAt.milliseconds)"
            (notification.origin, notification.analyticsLabel, notification.sentAt) = (.local, nil, nil)
            return notification
        }
        let digits = "\(number)"
        notification.fcmMessageID =
            switch spelling {
            case .phone: "0:\(digits)%\(String(Dice.mix(UInt64(number)) >> 32, radix: 16))"
            case .resource: "projects/\(project)/messages/\(digits)"
            case .digits: digits
            }
        return notification
    }

    /// The identifier that iOS gives the request of a remote push: a random UUID.
    private var identifier: String {
        let bits = UInt64(number)
        return UUID(high: Dice.mix(bits), low: Dice.mix(bits &+ 1)).description.uppercased()
    }
}

/// A person's reaction to a notification.
enum Reaction: Sendable {
    case open
    case tap(button: Int)
    case dismiss
    case expand
    case story
}
