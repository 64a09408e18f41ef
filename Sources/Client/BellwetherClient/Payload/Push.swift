internal import Foundation

extension Bellwether {
    /// One notification, as its payload and its request describe it. Its events carry this description.
    ///
    /// Create one with ``Bellwether/push(_:request:)``, and pass it to the methods that record.
    public struct Push: Sendable, Hashable {
        /// Firebase's message id exactly as it is in the payload.
        var fcmMessageID: String?
        var deliveryID: String?
        /// The request's identifier.
        var identifier: String?
        var category: String?
        var thread: String?
        var campaign: String?
        /// The campaign's name in Firebase's composer. The service does not know this member and stores it as an extra
        /// one.
        var campaignName: String?
        var variant: String?
        var analyticsLabel: String?
        var topic: String?
        var interruptionLevel: String?
        var relevanceScore: Double?
        var targetContentID: String?
        var summaryArgument: String?
        var origin: Origin?
        /// Whether the payload shows text.
        var alert: Bool?
        var sentAt: Moment?

        var deliveredAt: Date?
        var summaryArgumentCount: Int?
        /// Whether the payload wakes the app: `content-available`.
        var wakesApp = false
        var media: MediaAddress = .none
        var story: StoryPlan = .missing
        /// The Firebase installation ID of the recipient, which is about the install and no part of the notification.
        var firebaseInstallationID: String?
        /// The members that were left out because the service would reject them.
        var omitted: [String] = []

        /// What identifies the delivery, together with app and install; nil if no event about this notification can be
        /// recorded.
        var key: String? { fcmMessageID ?? deliveryID ?? identifier }

        /// Whether only an `apns-collapse-id` identifies this push, that is, an identifier that the sender chose in
        /// order to replace one push by another. The system gives a push without one a UUID.
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
        fields.add("relevance_score", relevanceScore.map(JSONValue.real))
        fields.add("target_content_id", targetContentID)
        fields.add("summary_argument", summaryArgument)
        fields.add("origin", origin?.rawValue)
        fields.add("alert", alert)
        fields.add("sent_at", sentAt?.description)
        fields.add("campaign_name", campaignName)
        return fields
    }
}

extension Bellwether.Push {
    /// Reads a payload dictionary: a notification's `userInfo`, or the argument of the remote-notification callback.
    init(_ dictionary: [AnyHashable: Any], request: Bellwether.Request, keys: Bellwether.PayloadKeys) {
        let payload = Payload(dictionary)
        let aps = payload["aps"]
        let firebase = FirebasePayload(payload)
        let pushwoosh = PushwooshPayload(payload)

        func own(_ keys: [String]) -> String? {
            keys.lazy.compactMap { payload.value(at: $0)?.name }.first { !$0.isEmpty }
        }
        var omitted: [String] = []
        /// The first text that is not empty, if the service can store it.
        func take(_ member: String, _ texts: String?..., bytes: Int = Bounds.identifier) -> String? {
            guard let text = texts.lazy.compactMap({ $0 }).first(where: { !$0.isEmpty }) else { return nil }
            let fitting = text.fitting(bytes)
            if fitting == nil { omitted.append(member) }
            return fitting
        }

        origin = request.origin ?? (aps == nil ? nil : .remote)
        deliveredAt = request.deliveredAt
        fcmMessageID = take("fcm_message_id", firebase.messageID)
        deliveryID = take(
            "delivery_id", own(keys.deliveryID), pushwoosh.messageHash,
            origin == .local ? Bellwether.Push.firing(of: request) : nil)
        identifier = take("id", request.identifier)
        category = take("category", request.category, aps?["category"]?.text)
        thread = take("thread", request.thread, aps?["thread-id"]?.text)
        campaign = take("campaign", own(keys.campaign), firebase.campaignID, pushwoosh.campaign)
        firebaseInstallationID = firebase.installationID?.fitting(Bounds.identifier)
        campaignName = firebase.campaignName?.fitting(Bounds.string)
        variant = take("variant", own(keys.variant))
        analyticsLabel = take("analytics_label", own(keys.analyticsLabel), firebase.label)
        topic = take("topic", own(keys.topic), firebase.topic)
        interruptionLevel = take(
            "interruption_level", aps?["interruption-level"]?.text, request.interruptionLevel, bytes: Bounds.string)
        // The service takes 0 to 1; the system takes any number.
        relevanceScore = (aps?["relevance-score"]?.number ?? request.relevanceScore).flatMap { score in
            score.isFinite ? min(max(score, 0), 1) : nil
        }
        targetContentID = take("target_content_id", aps?["target-content-id"]?.text, request.targetContentID)
        summaryArgument = take(
            "summary_argument", aps?["alert"]?["summary-arg"]?.text, request.summaryArgument, bytes: Bounds.string)
        alert = request.showsText ?? aps.map { AlertForm.showsText($0["alert"]) }
        sentAt = Bellwether.Push.moment(own(keys.sentAt)) ?? firebase.sentAt
        summaryArgumentCount =
            AlertForm.summaryArgumentCount(aps?["alert"]) ?? request.summaryArgumentCount.flatMap { $0 >= 0 ? $0 : nil }
        wakesApp = aps?["content-available"]?.isOn ?? false
        media = MediaAddress(own(keys.media) ?? firebase.image ?? pushwoosh.attachment)
        story = StoryPlan(payload)
        self.omitted = omitted
    }

    /// Identifies one firing of a local notification: its request identifier may be used again tomorrow.
    ///
    /// The time is cut to seconds, so that two processes that round it differently get the same id.
    private static func firing(of request: Bellwether.Request) -> String? {
        guard let identifier = request.identifier, !identifier.isEmpty,
            let time = request.deliveredAt?.timeIntervalSince1970,
            let seconds = Int64(exactly: time.rounded(.down))
        else { return nil }
        let name = "\(identifier)@\(seconds)"
        return name.fitting(Bounds.identifier) ?? "\(Digest([identifier]))@\(seconds)"
    }

    /// Seconds or milliseconds since 1970. Numbers below 100,000,000,000 are seconds (until the year 5138); as
    /// milliseconds, they would be in 1973 or earlier.
    static func moment(_ text: String?) -> Moment? {
        guard let text, let number = Double(text), number.isFinite, number > 0 else { return nil }
        let date = Date(timeIntervalSince1970: number < 100_000_000_000 ? number : number / 1000)
        return date.timeIntervalSince1970 >= 946_684_800 ? Moment(date) : nil
    }
}

/// The forms of `aps.alert`: a string, or an object of titles, texts and keys of localized texts.
enum AlertForm {
    private static let texts = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]

    static func showsText(_ alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        if let text = alert.text { return !text.isEmpty }
        return texts.contains { alert[$0]?.text?.isEmpty == false }
    }

    /// How many items the notification counts for in the summary of its thread.
    static func summaryArgumentCount(_ alert: JSONValue?) -> Int? {
        guard let number = alert?["summary-arg-count"]?.number, let count = Int(exactly: number), count >= 0 else {
            return nil
        }
        return count
    }
}
