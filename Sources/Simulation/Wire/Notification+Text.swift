internal import Telemetry

extension Notification {
    /// As the member `notification` of an event.
    var text: String {
        var object = ObjectText()
        object.add("fcm_message_id", fcmMessageID)
        object.add("delivery_id", deliveryID)
        object.add("id", id)
        object.add("category", category)
        object.add("thread", thread)
        object.add("campaign", campaign)
        object.add("variant", variant)
        object.add("analytics_label", analyticsLabel)
        object.add("topic", topic)
        object.add("apns_id", apnsID)
        object.add("collapse_id", collapseID)
        object.add("interruption_level", interruptionLevel)
        object.add("origin", origin)
        object.add("alert", alert)
        object.add("sent_at", sentAt?.wire)
        object.add("relevance_score", relevanceScore)
        object.add("target_content_id", targetContentID)
        object.add("summary_argument", summaryArgument)
        return object.text
    }
}
