-- Why: the events of one subject with the columns that subject has.
CREATE OR REPLACE VIEW analytics.receipts AS
SELECT
    app, event_id, type, device_at, occurred_at, received_at, time_source, seq, batch, install_id, notification_key,
    fcm_message_id, delivery_id, notification_id, category, thread, campaign, variant, origin, platform,
    app_version, os_version, sdk, device_model, locale, time_zone, "authorization", fid, alert,
    notification_sent_at, analytics_label, topic, apns_id, collapse_id, interruption_level, via, presentation,
    fetch_result, media_kind, media_format, media_outcome, media_reason, media_bytes, media_ms, media_network,
    summary_argument_count, extra
FROM log.named_event
WHERE type_code = 1;

COMMENT ON VIEW analytics.receipts IS 'The events that say a notification arrived on a device. A delivery can have several. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.receipts', 'analytics.events');

GRANT SELECT ON analytics.receipts TO bellwether_analyst;
