-- Why: the events of one subject with the columns that subject has.
CREATE OR REPLACE VIEW analytics.opens AS
SELECT
    app, event_id, type, device_at, occurred_at, received_at, time_source, seq, batch, install_id, notification_key,
    fcm_message_id, delivery_id, notification_id, category, thread, campaign, variant, origin, platform,
    app_version, os_version, sdk, device_model, locale, time_zone, "authorization", fid, alert,
    notification_sent_at, analytics_label, topic, apns_id, collapse_id, interruption_level, launch, extra
FROM log.named_event
WHERE type_code IN (2, 3, 4);

COMMENT ON VIEW analytics.opens IS 'Openings, expansions (the content extension was shown) and explicit dismissals: type tells which. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.opens', 'analytics.events');

GRANT SELECT ON analytics.opens TO bellwether_analyst;
