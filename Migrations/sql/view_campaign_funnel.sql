-- Why: from the send to the response, campaign by campaign. What senders report, what FCM exports and what phones
-- report are summed separately and then put side by side, so that a query for one app and day can use the keys of all
-- three.
CREATE OR REPLACE VIEW analytics.campaign_funnel AS
SELECT
    app.slug AS app, f.day, f.campaign, f.variant,
    CASE WHEN f.sent > 9223372036854775807 THEN 9223372036854775807 ELSE f.sent END::bigint AS sent, f.accepted::bigint AS accepted,
    f.fcm_delivered::bigint AS fcm_delivered,
    f.delivered::bigint AS delivered, f.received::bigint AS received, (f.delivered - f.received)::bigint AS inferred,
    f.expanded::bigint AS expanded, f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, (f.responded - f.closed)::bigint AS engaged,
    (f.received_responded - f.received_closed)::bigint AS received_engaged, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    f.woken::bigint AS woken,
    f.fcm_data_accepted::bigint AS fcm_data_accepted, f.fcm_data_delivered::bigint AS fcm_data_delivered,
    round(f.accepted / nullif(f.sent, 0), 4) AS accept_rate,
    round(f.fcm_delivered / nullif(f.accepted, 0), 4) AS fcm_delivery_rate,
    CASE WHEN f.woken_of_campaign = 0 THEN round(f.delivered / nullif(f.sent, 0), 4) END AS delivery_rate,
    round(f.received / nullif(f.delivered, 0), 4) AS receipt_coverage,
    round(f.received_responded / nullif(f.received, 0), 4) AS response_rate,
    round((f.received_responded - f.received_closed) / nullif(f.received, 0), 4) AS engagement_rate,
    nullif(concat_ws(', ',
        CASE WHEN f.accepted > f.sent THEN 'accepted over sent' END,
        CASE WHEN f.fcm_delivered > f.accepted THEN 'fcm_delivered over accepted' END,
        CASE WHEN f.fcm_delivered > f.sent THEN 'fcm_delivered over sent' END,
        CASE WHEN f.delivered > f.sent THEN 'delivered over sent' END), '') AS contradiction
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, campaign, variant, sum(sent) AS sent, sum(accepted) AS accepted, sum(fcm_delivered) AS fcm_delivered,
        sum(fcm_data_accepted) AS fcm_data_accepted, sum(fcm_data_delivered) AS fcm_data_delivered,
        coalesce(sum((counted).delivered), 0) AS delivered, coalesce(sum((counted).received), 0) AS received,
        coalesce(sum((counted).expanded), 0) AS expanded, coalesce(sum((counted).opened), 0) AS opened,
        coalesce(sum((counted).action_tapped), 0) AS action_tapped,
        coalesce(sum((counted).story_action_tapped), 0) AS story_action_tapped,
        coalesce(sum((counted).responded), 0) AS responded,
        coalesce(sum((counted).received_responded), 0) AS received_responded,
        coalesce(sum((counted).closed), 0) AS closed, coalesce(sum((counted).received_closed), 0) AS received_closed,
        coalesce(sum((counted).dismissed), 0) AS dismissed, coalesce(sum((counted).unanswered), 0) AS unanswered,
        coalesce(sum((counted).suppressed), 0) AS suppressed,
        coalesce(sum((counted).media_attached), 0) AS media_attached, coalesce(sum((counted).woken), 0) AS woken,
        coalesce(sum(sum((counted).woken)) OVER (PARTITION BY day, campaign), 0) AS woken_of_campaign
    FROM (
        SELECT
            c.day, c.campaign, c.variant, c AS counted, NULL::numeric AS sent, NULL::numeric AS accepted,
            NULL::numeric AS fcm_delivered, NULL::numeric AS fcm_data_accepted, NULL::numeric AS fcm_data_delivered
        FROM counted.campaign_funnel AS c WHERE c.app = app.id AND (c.delivered > 0 OR c.woken > 0)
        UNION ALL
        SELECT d.day, s.campaign, s.variant, NULL, s.sent, NULL, NULL, NULL, NULL
        FROM sends.send_days AS d
        CROSS JOIN LATERAL (
            -- A send without a campaign counts under its analytics label, as its messages do.
            SELECT
                coalesce(c.value, nullif(send.campaign, ''), analytics_label) AS campaign, coalesce(v.value, send.variant) AS variant,
                sum(coalesce(recipients, messages)) AS sent
            FROM sends.send
            -- 3 and 4 are the codes of campaigns and variants among the kinds of words.
            LEFT JOIN log.merged_word AS c ON c.app = send.app AND c.kind = 3 AND c.sent = coalesce(nullif(send.campaign, ''), analytics_label)
            LEFT JOIN log.merged_word AS v ON v.app = send.app AND v.kind = 4 AND v.sent = send.variant
            WHERE send.app = d.app AND sent_at >= d.since AND sent_at < d.until
                AND (sent_at AT TIME ZONE app.time_zone)::date = d.day
            GROUP BY 1, 2
        ) AS s
        WHERE d.app = app.id
        UNION ALL
        SELECT
            m.day, coalesce(c.value, m.campaign), coalesce(v.value, m.variant), NULL, NULL, m.accepted, m.delivered, m.data_accepted,
            m.data_delivered
        FROM (
            SELECT app, day, campaign, variant, accepted, delivered, data_accepted, data_delivered FROM sends.fcm_campaigns
            UNION ALL
            SELECT app, day, campaign, variant, accepted, delivered, data_accepted, data_delivered FROM sends.fcm_sealed
        ) AS m
        LEFT JOIN log.merged_word AS c ON c.app = m.app AND c.kind = 3 AND c.sent = m.campaign
        LEFT JOIN log.merged_word AS v ON v.app = m.app AND v.kind = 4 AND v.sent = m.variant
        WHERE m.app = app.id
    ) AS part
    GROUP BY day, campaign, variant
) AS f;

COMMENT ON VIEW analytics.campaign_funnel IS 'From the send to the response, by campaign and variant. Data messages and silent deliveries stand apart. Unknown counts are null: sent if no send gives a number, accepted and fcm_delivered if no export was imported. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.campaign_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.campaign_funnel.day IS 'In the time zone of the app: for sent the day of the send; for accepted and fcm_delivered the day of the message''s first row in the export; for all others the day of the delivery''s first event. A push sent shortly before midnight can arrive on the next day';
COMMENT ON COLUMN analytics.campaign_funnel.sent IS 'How many the sends of the day went to: the number of recipients given, else of different message ids. Null if no send of the day gives either';
COMMENT ON COLUMN analytics.campaign_funnel.accepted IS 'Messages to one instance that FCM accepted, according to its export; null if none was exported';
COMMENT ON COLUMN analytics.campaign_funnel.fcm_delivered IS 'Messages that the FCM SDK on a device received, according to FCM''s export; null if none was exported. For iOS the export has them only if the app turns this on';
COMMENT ON COLUMN analytics.campaign_funnel.fcm_data_accepted IS 'Data messages that FCM accepted. They show nothing by themselves, and no other column counts them';
COMMENT ON COLUMN analytics.campaign_funnel.fcm_data_delivered IS 'Data messages that the FCM SDK on a device received';
COMMENT ON COLUMN analytics.campaign_funnel.accept_rate IS 'accepted / sent; null if either is unknown or sent is 0';
COMMENT ON COLUMN analytics.campaign_funnel.fcm_delivery_rate IS 'fcm_delivered / accepted; null if either is unknown';
COMMENT ON COLUMN analytics.campaign_funnel.delivery_rate IS 'delivered / sent: the share of what was sent that left any trace. Null if sent is unknown or 0, and where the campaign woke phones on the day: what was sent then includes silent pushes, which show nothing';
COMMENT ON COLUMN analytics.campaign_funnel.woken IS 'Silent deliveries of the campaign, which woke the app and showed nothing. No other column counts them, and their variants are not told apart: see silent_funnel';
COMMENT ON COLUMN analytics.campaign_funnel.contradiction IS 'Counts that contradict each other, such as ''delivered over sent''. Likely causes: a send that was not reported, reported with too small a number or under another campaign, or sent the day before. Null if there is no contradiction';

GRANT SELECT ON analytics.campaign_funnel TO bellwether_analyst;
