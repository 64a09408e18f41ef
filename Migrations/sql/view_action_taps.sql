-- Why: the events of one subject with the columns that subject has.
CREATE OR REPLACE VIEW analytics.action_taps AS
SELECT
    app, event_id, type, device_at, occurred_at, received_at, time_source, seq, batch, install_id, notification_key,
    fcm_message_id, delivery_id, notification_id, category, thread, campaign, variant, origin, platform,
    app_version, os_version, sdk, device_model, locale, time_zone, "authorization", fid, alert,
    notification_sent_at, analytics_label, topic, apns_id, collapse_id, interruption_level, action_id, action_index,
    action_count, activation, destructive, authentication_required, text_input, handled_in, launch, page_index,
    link_scheme, link_host, extra
FROM log.named_event
WHERE type_code IN (5, 8);

COMMENT ON VIEW analytics.action_taps IS 'Taps of notification buttons (action.tapped) and of a story page''s call to action (story.action_tapped). What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.action_taps', 'analytics.events');

GRANT SELECT ON analytics.action_taps TO bellwether_analyst;
