-- Sums of the messages in the FCM export, by day and campaign. Retention takes its sums from here, too.
CREATE OR REPLACE VIEW sends.fcm_campaigns AS
SELECT
    d.app, d.day, d.until, m.campaign, m.variant, m.accepted, m.delivered, m.data_accepted, m.data_delivered
FROM sends.fcm_days AS d
CROSS JOIN LATERAL (
    SELECT
        coalesce(campaign.value, nullif(s.campaign, ''), s.analytics_label, label.campaign, g.analytics_label) AS campaign,
        CASE
            WHEN campaign.value IS NOT NULL THEN coalesce(variant.value, '')
            WHEN s.number IS NOT NULL THEN s.variant
            ELSE coalesce(label.variant, '')
        END AS variant,
        nullif(sum(g.accepted), 0) AS accepted, nullif(sum(g.delivered), 0) AS delivered,
        nullif(sum(g.data_accepted), 0) AS data_accepted, nullif(sum(g.data_delivered), 0) AS data_delivered
    FROM (
        SELECT
            f.campaign, f.variant, f.send, f.analytics_label,
            count(*) FILTER (WHERE f.accepted AND NOT f.is_data) AS accepted,
            count(*) FILTER (WHERE f.delivered AND NOT f.is_data) AS delivered,
            count(*) FILTER (WHERE f.accepted AND f.is_data) AS data_accepted,
            count(*) FILTER (WHERE f.delivered AND f.is_data) AS data_delivered
        FROM (
            -- The campaign is that of a delivery of the message, else that of the send that names the message, else
            -- that of the send that names the message to the whole topic. If there are several, the first one counts.
            -- Sends without a campaign come last; their label takes its place.
            SELECT DISTINCT ON (m.message_key, m.instance_id)
                p.campaign, p.variant, CASE WHEN p.campaign IS NULL THEN coalesce(s.number, topic.send) END AS send,
                coalesce(nullif(m.analytics_label, ''), topic.analytics_label, '') AS analytics_label,
                m.accepted, m.delivered, m.is_data
            FROM sends.fcm_message AS m
            -- The common beginning of the keys of all deliveries of the message, as computed by `DeliveryKey`.
            CROSS JOIN LATERAL (
                SELECT
                    ((CASE WHEN m.message_key ~ '^[0-9]{10}' THEN left(m.message_key, 10)::bigint >> 6
                        ELSE hashtextextended(m.message_key, 0) >> 16 END & 8388607) << 40)
                    | ((hashtextextended(m.message_key, 0) & 65535) << 24) AS first
            ) AS key
            LEFT JOIN projection.delivery AS p
                ON p.key BETWEEN key.first AND key.first + 16777215
                AND p.notification_key = m.message_key AND p.app = m.app AND p.campaign <> 0
                AND (p.generation = 0 OR p.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
            LEFT JOIN (
                sends.send_message AS n
                JOIN sends.send AS s ON s.number = n.send AND (s.campaign <> '' OR s.analytics_label <> '')
            )
                ON n.message_key = m.message_key AND n.app = m.app
            LEFT JOIN (
                SELECT DISTINCT ON (t.bulk_id) t.bulk_id, s.number AS send, t.analytics_label
                FROM sends.fcm_topic AS t
                LEFT JOIN (
                    sends.send_message AS n
                    JOIN sends.send AS s ON s.number = n.send AND (s.campaign <> '' OR s.analytics_label <> '')
                )
                    ON n.message_key = t.message_key AND n.app = t.app
                WHERE t.app = d.app
                ORDER BY t.bulk_id, s.campaign = '', s.sent_at, s.id
            ) AS topic
                ON topic.bulk_id = m.bulk_id
            WHERE m.app = d.app AND m.first_at >= d.since AND m.first_at < d.until
                AND (m.first_at AT TIME ZONE d.time_zone)::date = d.day
            ORDER BY m.message_key, m.instance_id, p.first_occurred_at, p.install_id, s.campaign = '', s.sent_at, s.id
        ) AS f
        GROUP BY f.campaign, f.variant, f.send, f.analytics_label
    ) AS g
    LEFT JOIN log.word AS campaign ON campaign.id = g.campaign
    LEFT JOIN log.word AS variant ON variant.id = g.variant
    LEFT JOIN sends.send AS s ON s.number = g.send
    -- Otherwise the campaign of all sends with its label, if these have the same one; otherwise the label itself.
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
