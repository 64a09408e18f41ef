-- Why: the events of one subject with the columns that subject has.
CREATE OR REPLACE VIEW analytics.story_events AS
SELECT
    app, event_id, type, device_at, occurred_at, received_at, time_source, seq, batch, install_id, notification_key,
    fcm_message_id, delivery_id, notification_id, category, thread, campaign, variant, origin, platform,
    app_version, os_version, sdk, device_model, locale, time_zone, "authorization", fid, alert,
    notification_sent_at, analytics_label, topic, apns_id, collapse_id, interruption_level, page_count,
    declared_page_count, loops, page_index, declared_ms, cause, link_scheme, link_host, reason,
    type_code = 10 AS fallback_shown, extra
FROM log.named_event
WHERE type_code BETWEEN 6 AND 10;

COMMENT ON VIEW analytics.story_events IS 'What happened in Push Stories: started, page shown, call to action tapped, finished, fallback shown. A looping or re-wound story shows a page more than once. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.story_events', 'analytics.events');
COMMENT ON COLUMN analytics.story_events.fallback_shown IS 'Whether this event says that the fallback was shown instead of pages';

GRANT SELECT ON analytics.story_events TO bellwether_analyst;
