-- Of which campaign the messages of the FCM export are, summed day by day. Retention takes its sums from here.
CREATE OR REPLACE VIEW sends.fcm_campaigns AS
SELECT
    d.app, d.day, d.until, m.campaign, m.variant, m.accepted, m.delivered, m.data_accepted, m.data_delivered
FROM sends.fcm_days AS d
CROSS JOIN LATERAL (
    SELECT
        coalesce(campaign.value, s.campaign, label.campaign, g.analytics_label) AS campaign,
        CASE
            WHEN campaign.value IS NOT NULL THEN coalesce(variant.value, '')
            WHEN s.campaign IS NOT NULL THEN s.variant
            ELSE coalesce(label.variant, '')
        END AS variant,
        nullif(sum(g.accepted), 0) AS accepted, nullif(sum(g.delivered), 0) AS delivered,
        nullif(sum(g.data_accepted), 0) AS data_accepted, nullif(sum(g.data_delivered), 0) AS data_delivered
    FROM (
        SELECT
            delivery.campaign, delivery.variant, told.send, m.analytics_label,
            count(*) FILTER (WHERE m.accepted AND NOT m.is_data) AS accepted,
            count(*) FILTER (WHERE m.delivered AND NOT m.is_data) AS delivered,
            count(*) FILTER (WHERE m.accepted AND m.is_data) AS data_accepted,
            count(*) FILTER (WHERE m.delivered AND m.is_data) AS data_delivered
        FROM sends.fcm_message AS m
        -- The campaign is that of a delivery of the message; of several the first.
        LEFT JOIN LATERAL (
            SELECT p.campaign, p.variant FROM projection.delivery AS p
            WHERE p.notification_key = m.message_key AND p.app = m.app AND p.campaign <> 0
                AND (p.tables = 0 OR p.tables = (SELECT live.tables FROM projection.live WHERE live.name = 'deliveries'))
            ORDER BY p.first_occurred_at, p.install_id LIMIT 1
        ) AS delivery ON true
        -- Else that of the send that named it; of several the first.
        LEFT JOIN LATERAL (
            SELECT n.send FROM sends.send_message AS n JOIN sends.send AS s ON s.number = n.send
            WHERE n.message_key = m.message_key AND n.app = m.app AND s.campaign <> ''
                AND delivery.campaign IS NULL
            ORDER BY s.sent_at, s.id LIMIT 1
        ) AS told ON true
        WHERE m.app = d.app AND m.first_at >= d.since AND m.first_at < d.until
        GROUP BY delivery.campaign, delivery.variant, told.send, m.analytics_label
    ) AS g
    LEFT JOIN log.word AS campaign ON campaign.id = g.campaign
    LEFT JOIN log.word AS variant ON variant.id = g.variant
    LEFT JOIN sends.send AS s ON s.number = g.send
    -- Else that of all sends with its label, if it is one; else the label itself.
    LEFT JOIN LATERAL (
        SELECT
            CASE WHEN min(s.campaign) = max(s.campaign) THEN min(s.campaign) END AS campaign,
            CASE
                WHEN min(s.campaign) = max(s.campaign) AND min(s.variant) = max(s.variant) THEN min(s.variant)
            END AS variant
        FROM sends.send AS s
        WHERE s.app = d.app AND s.analytics_label = g.analytics_label AND s.analytics_label <> ''
            AND s.campaign <> '' AND g.campaign IS NULL AND g.send IS NULL
    ) AS label ON true
    GROUP BY 1, 2
) AS m;
