/// One campaign on the day, from the send to the response, all variants together.
package struct CampaignSummary: Hashable, Sendable {
    /// '' for deliveries that name none.
    package var name: String
    package var counts: FunnelCounts
    /// Recipients of the day's sends; nil when no send of it was told.
    package var sent: Int64?
    /// Messages that FCM took on the day, and that it says were delivered; nil when nobody told.
    package var accepted: Int64?
    package var fcmDelivered: Int64?
    /// What these numbers say that cannot all be so, in words: `delivered over sent`.
    package var contradictions: [String] = []

    package init(
        name: String, counts: FunnelCounts, sent: Int64? = nil, accepted: Int64? = nil, fcmDelivered: Int64? = nil
    ) {
        (self.name, self.counts, self.sent) = (name, counts, sent)
        (self.accepted, self.fcmDelivered) = (accepted, fcmDelivered)
    }

    /// Whether anything is known from before the phone.
    package var isToldFromTheSend: Bool { sent != nil || accepted != nil || fcmDelivered != nil }
    package var acceptRate: Double? { CampaignSummary.share(accepted, of: sent) }
    package var fcmDeliveryRate: Double? { CampaignSummary.share(fcmDelivered, of: accepted) }
    /// Over one where a send told of fewer than came.
    package var deliveryRate: Double? { CampaignSummary.share(counts.delivered, of: sent) }

    private static func share(_ part: Int64?, of whole: Int64?) -> Double? {
        guard let part, let whole else { return nil }
        return Rate(part, of: whole).value
    }
}
