internal import Postgres
internal import Telemetry

extension CampaignSummary {
    /// The campaigns of the day, '' for deliveries that name none.
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [CampaignSummary] {
        // That more came than was sent is seen of a variant where its own sends are known, and of all variants together
        // where a send may have been for any of them.
        let rows = try connection.query(
            """
            SELECT campaign, \(sql: FunnelCounts.sums),
                CASE WHEN sum(sent) > 9223372036854775807 THEN 9223372036854775807 ELSE sum(sent) END::bigint,
                sum(accepted)::bigint, sum(fcm_delivered)::bigint, coalesce(string_agg(DISTINCT contradiction, ', '), ''),
                sum(delivered) > sum(sent)
                    AND (bool_or(variant = '' AND sent IS NOT NULL) OR bool_and(sent IS NOT NULL OR delivered = 0))
            FROM analytics.campaign_funnel WHERE app = \(scope.app) AND day = \(scope.day)
            GROUP BY campaign ORDER BY sum(delivered) DESC, sum(sent) DESC NULLS LAST, campaign COLLATE "C"
            """)
        var campaigns: [CampaignSummary] = []
        for row in rows {
            var campaign = CampaignSummary(
                name: try row.get(0), counts: try FunnelCounts(row, from: 1), sent: try row.optional(13),
                accepted: try row.optional(14), fcmDelivered: try row.optional(15))
            let told: String = try row.get(16)
            let isOver = try row.optional(17, as: Bool.self) ?? false
            campaign.contradictions =
                told.split(separator: ", ").map(String.init) + (isOver ? ["delivered over sent"] : [])
            campaign.contradictions = Set(campaign.contradictions).sorted()
            // FCM's data messages have rows too.
            if campaign.counts.delivered > 0 || campaign.isToldFromTheSend { campaigns.append(campaign) }
        }
        return campaigns
    }
}
