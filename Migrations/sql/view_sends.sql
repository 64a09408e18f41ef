-- Why: what was sent, as the sender told it. A day leads along the index by time.
CREATE OR REPLACE VIEW analytics.sends AS
SELECT
    app.slug AS app, d.day, s.id AS send_id, s.campaign, s.variant, s.category, s.thread, s.topic, s.analytics_label,
    s.sent_at, s.received_at, s.recipients, s.messages::bigint AS messages,
    coalesce(s.recipients, s.messages) AS sent, s.story, s.payload, key.name AS key
FROM log.app AS app
JOIN sends.send_days AS d ON d.app = app.id
JOIN sends.send AS s ON s.app = app.id AND s.sent_at >= d.since AND s.sent_at < d.until
    AND (s.sent_at AT TIME ZONE app.time_zone)::date = d.day
LEFT JOIN log.api_key AS key ON key.id = s.key;

COMMENT ON VIEW analytics.sends IS 'What was sent, as the senders told it, each send once. campaign_funnel counts it beside what became of it';
COMMENT ON COLUMN analytics.sends.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.sends.day IS 'Day of sent_at in the time zone of the app: the day on which campaign_funnel counts it';
COMMENT ON COLUMN analytics.sends.send_id IS 'The sender''s id of it; UUIDs in lower case';
COMMENT ON COLUMN analytics.sends.campaign IS 'Campaign: as told, else the one that the payload names as the client library reads it; '''' where neither does';
COMMENT ON COLUMN analytics.sends.variant IS 'Variant of the campaign, '''' where none was told';
COMMENT ON COLUMN analytics.sends.category IS 'Notification category: as told, else aps.category of the payload, else FCM''s click_action, else ios_category_custom; '''' for none';
COMMENT ON COLUMN analytics.sends.thread IS 'Notification group: as told, else aps.thread-id of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.topic IS 'FCM topic: as told, else that of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.analytics_label IS 'FCM analytics label: as told, else that of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.sent_at IS 'When it was sent, as told; else received_at';
COMMENT ON COLUMN analytics.sends.received_at IS 'When it was told, or imported';
COMMENT ON COLUMN analytics.sends.recipients IS 'To how many, as told; null where it was not';
COMMENT ON COLUMN analytics.sends.messages IS 'How many different message ids were told; null where none were';
COMMENT ON COLUMN analytics.sends.sent IS 'How many it counts for: recipients, else messages; null where neither is known';
COMMENT ON COLUMN analytics.sends.story IS 'Of the payload''s story: playable, no_valid_page, or malformed (the player can make nothing of it); null where the payload has none. Its pages are in story_pages';
COMMENT ON COLUMN analytics.sends.payload IS 'What was pushed, as told, without the members that say to whom or let others send: token, tokens, to, registration_ids, devices, users, auth';
COMMENT ON COLUMN analytics.sends.key IS 'Name of the key it came with; null where it was imported';

GRANT SELECT ON analytics.sends TO bellwether_analyst;
