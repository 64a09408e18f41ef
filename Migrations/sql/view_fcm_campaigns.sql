-- Sums of the messages in the FCM export, by day and campaign. Retention takes its sums from here, too.
CREATE OR REPLACE VIEW sends.fcm_campaigns AS
SELECT
    d.app, d.day, d.until, m.campaign, m.variant, m.accepted, m.delivered, m.data_accepted, m.data_delivered
FROM sends.fcm_days AS d
CROSS JOIN LATERAL (
    SELECT
        coalesce(g.campaign, nullif(s.campaign, ''), s.analytics_label, label.campaign, g.analytics_label) AS campaign,
        CASE
            WHEN g.campaign IS NOT NULL THEN g.variant
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
                m.campaign, m.variant, CASE WHEN m.campaign IS NULL THEN coalesce(s.number, topic.send) END AS send,
                coalesce(nullif(m.analytics_label, ''), topic.analytics_label, '') AS analytics_label,
                m.accepted, m.delivered, m.is_data
            FROM (
                -- Each message once, with its first delivery if it has one. They are not joined, since on a hub deliveries
                -- come from the cells.
                SELECT DISTINCT ON (o.message_key, o.instance_id) o.*
                FROM (
                    SELECT
                        message_key, instance_id, first_at, bulk_id, analytics_label, accepted, delivered, is_data,
                        NULL::text AS campaign, NULL::text AS variant, NULL::timestamptz AS first_occurred_at, NULL::uuid AS install_id
                    FROM sends.fcm_message WHERE app = d.app
                    UNION ALL
                    SELECT
                        message_key, instance_id, first_at, bulk_id, analytics_label, accepted, delivered, is_data,
                        campaign, variant, first_occurred_at, install_id
                    FROM counted.message_delivery WHERE app = d.app
                ) AS o
                WHERE o.first_at >= d.since AND o.first_at < d.until AND (o.first_at AT TIME ZONE d.time_zone)::date = d.day
                ORDER BY o.message_key, o.instance_id, o.first_occurred_at, o.install_id
            ) AS m
            LEFT JOIN (
                sends.send_message AS n
                JOIN sends.send AS s ON s.number = n.send AND (s.campaign <> '' OR s.analytics_label <> '')
            )
                ON n.message_key = m.message_key AND n.app = d.app
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
            ORDER BY m.message_key, m.instance_id, s.campaign = '', s.sent_at, s.id
        ) AS f
        GROUP BY f.campaign, f.variant, f.send, f.analytics_label
    ) AS g
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
