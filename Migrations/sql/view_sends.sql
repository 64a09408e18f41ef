-- Why: what was sent, as reported by the senders. A query for one day uses the index by time.
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

COMMENT ON VIEW analytics.sends IS 'What was sent, as reported by the senders, each send once. campaign_funnel puts it beside what became of it';
COMMENT ON COLUMN analytics.sends.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.sends.day IS 'Day of sent_at in the time zone of the app: the day on which campaign_funnel counts it';
COMMENT ON COLUMN analytics.sends.send_id IS 'The sender''s id of the send; UUIDs are in lower case';
COMMENT ON COLUMN analytics.sends.campaign IS 'Campaign: as given, else as the client library reads it from the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.variant IS 'Variant of the campaign; '''' if none was given';
COMMENT ON COLUMN analytics.sends.category IS 'Notification category: as given, else aps.category of the payload, else FCM''s click_action, else ios_category_custom; '''' for none';
COMMENT ON COLUMN analytics.sends.thread IS 'Notification group: as given, else aps.thread-id of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.topic IS 'FCM topic: as given, else that of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.analytics_label IS 'FCM analytics label: as given, else that of the payload; '''' for none';
COMMENT ON COLUMN analytics.sends.sent_at IS 'When it was sent, as given; else received_at';
COMMENT ON COLUMN analytics.sends.received_at IS 'When it was posted or imported';
COMMENT ON COLUMN analytics.sends.recipients IS 'Number of recipients, as given; null if not given';
COMMENT ON COLUMN analytics.sends.messages IS 'How many different message ids were given; null if none';
COMMENT ON COLUMN analytics.sends.sent IS 'The number it counts for in funnels: recipients, else messages; null if neither is known';
COMMENT ON COLUMN analytics.sends.story IS 'State of the payload''s story: playable, no_valid_page, or malformed (the player cannot read it); null if the payload has no story. Its pages are in story_pages';
COMMENT ON COLUMN analytics.sends.payload IS 'The payload, as given, without members that name recipients or would let others send: token, tokens, to, registration_ids, devices, users, auth';
COMMENT ON COLUMN analytics.sends.key IS 'Name of the API key it was posted with; null if it was imported';

GRANT SELECT ON analytics.sends TO bellwether_analyst;
