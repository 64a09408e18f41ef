-- Why: the campaign of a message in the FCM export is that of its delivery, and on a hub deliveries are in the cells.
CREATE OR REPLACE VIEW counted.message_delivery AS
SELECT
    m.app, m.message_key, m.instance_id, m.first_at, m.bulk_id, m.analytics_label, m.accepted, m.delivered, m.is_data,
    campaign.value AS campaign, coalesce(variant.value, '') AS variant, p.first_occurred_at, p.install_id
FROM sends.fcm_message AS m
-- The common beginning of the keys of all deliveries of the message, as computed by `DeliveryKey`.
CROSS JOIN LATERAL (
    SELECT
        ((CASE WHEN m.message_key ~ '^[0-9]{10}' THEN left(m.message_key, 10)::bigint >> 6
            ELSE hashtextextended(m.message_key, 0) >> 16 END & 8388607) << 40)
        | ((hashtextextended(m.message_key, 0) & 65535) << 24) AS first
) AS key
JOIN projection.opened_delivery AS p
    ON p.key BETWEEN key.first AND key.first + 16777215
    AND p.notification_key = m.message_key AND p.app = m.app
    AND (p.generation = 0 OR p.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
JOIN log.word AS campaign ON campaign.id = p.campaign
LEFT JOIN log.word AS variant ON variant.id = p.variant;

SELECT cluster.offer('counted.message_delivery');
