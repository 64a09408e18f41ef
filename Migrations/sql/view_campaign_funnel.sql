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
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(responded) AS responded, sum(received_responded) AS received_responded, sum(dismissed) AS dismissed,
        sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached,
        sum(closed) AS closed, sum(received_closed) AS received_closed, sum(woken) AS woken,
        sum(sum(woken)) OVER (PARTITION BY day, campaign) AS woken_of_campaign
    FROM (
        SELECT
            p.day, coalesce(campaign.value, '') AS campaign, coalesce(variant.value, '') AS variant,
            NULL::numeric AS sent, NULL::numeric AS accepted, NULL::numeric AS fcm_delivered,
            NULL::numeric AS fcm_data_accepted, NULL::numeric AS fcm_data_delivered,
            p.delivered, p.received, p.expanded, p.opened, p.action_tapped, p.story_action_tapped, p.responded,
            p.received_responded, p.dismissed, p.unanswered, p.suppressed, p.media_attached, p.closed, p.received_closed, 0::bigint AS woken
        FROM (
            SELECT
                day, campaign, variant, sum(closed) AS closed, sum(received_closed) AS received_closed,
                sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded,
                sum(opened) AS opened, sum(action_tapped) AS action_tapped,
                sum(story_action_tapped) AS story_action_tapped, sum(responded) AS responded,
                sum(received_responded) AS received_responded, sum(dismissed) AS dismissed,
                sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached
            FROM (
                SELECT
                    day, campaign, variant, delivered, received, expanded, opened, action_tapped, story_action_tapped,
                    responded, received_responded, dismissed, unanswered, suppressed, media_attached, 0::bigint AS closed,
                    0::bigint AS received_closed
                FROM projection.campaign_funnel
                WHERE campaign_funnel.app = app.id
                    AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'campaign_funnel'))
                UNION ALL
                SELECT
                    day, campaign, variant, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint,
                    0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, sole, received_sole
                FROM projection.campaign_soles AS s
                JOIN registry.closing_button AS closing
                    ON closing.app = s.app AND closing.category = s.category AND closing.action_id = s.action_id
                WHERE s.app = app.id
                    AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'campaign_funnel'))
            ) AS counted
            GROUP BY day, campaign, variant
            HAVING sum(delivered) > 0
        ) AS p
        LEFT JOIN log.word AS campaign ON campaign.id = p.campaign
        LEFT JOIN log.word AS variant ON variant.id = p.variant
        UNION ALL
        -- Silent pushes wake the app and show nothing. Their variants are not told apart.
        SELECT
            w.day, coalesce(campaign.value, ''), '', NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, w.woken::bigint
        FROM (
            SELECT day, campaign, sum(woken) AS woken
            FROM projection.silent_funnel
            WHERE silent_funnel.app = app.id
                AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'silent_funnel'))
            GROUP BY day, campaign
            HAVING sum(woken) > 0
        ) AS w
        LEFT JOIN log.word AS campaign ON campaign.id = w.campaign
        UNION ALL
        SELECT
            d.day, s.campaign, s.variant, s.sent, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        FROM sends.send_days AS d
        CROSS JOIN LATERAL (
            -- A send without a campaign counts under its analytics label, as its messages do.
            SELECT
                coalesce(nullif(campaign, ''), analytics_label) AS campaign, variant,
                sum(coalesce(recipients, messages)) AS sent
            FROM sends.send WHERE send.app = d.app AND sent_at >= d.since AND sent_at < d.until
                AND (sent_at AT TIME ZONE app.time_zone)::date = d.day
            GROUP BY 1, 2
        ) AS s
        WHERE d.app = app.id
        UNION ALL
        SELECT
            m.day, m.campaign, m.variant, NULL, m.accepted, m.delivered, m.data_accepted, m.data_delivered,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        FROM sends.fcm_campaigns AS m WHERE m.app = app.id
        UNION ALL
        SELECT
            r.day, r.campaign, r.variant, NULL, r.accepted, r.delivered, r.data_accepted, r.data_delivered,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        FROM sends.fcm_sealed AS r WHERE r.app = app.id
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
