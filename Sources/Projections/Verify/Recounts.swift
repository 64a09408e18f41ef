/// Every table that `verify` recounts.
package enum Recounts {
    /// The deliveries first: what differs there is told with every other cell.
    package static let all: [Recount] = [
        .delivery, .categoryFunnel, .categoryActions, .categoryActionTimes, .categoryExposures, .campaignFunnel,
        .storyFunnel, .storyPageFunnel, .storyPageGaps, .threadFunnel, .versionFunnel, .silentFunnel, .mediaFunnel,
    ]

    /// The recount of a table.
    package static func of(_ table: String) -> Recount? { all.first { $0.table == table } }
}

extension Recount {
    /// The counts that the funnels by category, campaign, thread and version share, of the deliveries that are not silent.
    static let deliveryCounts = Column.counts(
        "delivered", "received", "expanded", "opened", "action_tapped", "story_action_tapped", "responded",
        "received_responded", "dismissed", "unanswered", "suppressed", "media_attached")

    static let deliveryCountsSQL = """
        count(*) AS delivered,
        count(*) FILTER (WHERE received) AS received,
        count(*) FILTER (WHERE expanded) AS expanded,
        count(*) FILTER (WHERE opened) AS opened,
        count(*) FILTER (WHERE action_tapped) AS action_tapped,
        count(*) FILTER (WHERE story_action_tapped) AS story_action_tapped,
        count(*) FILTER (WHERE responded) AS responded,
        count(*) FILTER (WHERE received_responded) AS received_responded,
        count(*) FILTER (WHERE dismissed) AS dismissed,
        count(*) FILTER (WHERE unanswered) AS unanswered,
        count(*) FILTER (WHERE suppressed) AS suppressed,
        count(*) FILTER (WHERE media_attached) AS media_attached
        """

    static let noneSilent = "d.flags & 1 = 0"
}
