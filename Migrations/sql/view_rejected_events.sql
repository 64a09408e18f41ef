-- Why: a rejected event is somebody's bug; this view shows whose.
CREATE OR REPLACE VIEW analytics.rejected_events AS
SELECT
    app.slug AS app, r.id AS rejection, r.received_at, key.name AS key, r.reason, r.detail, r.install_id,
    r.event_id,
    r.sent_at, r.source, r.raw, batch.number AS batch, r.replayed_at
FROM log.rejected AS r
JOIN log.app AS app ON app.id = r.app
LEFT JOIN log.api_key AS key ON key.id = r.key
LEFT JOIN log.batch AS batch ON batch.id = r.batch_id
WHERE (SELECT cluster.is_whole());

COMMENT ON VIEW analytics.rejected_events IS 'Rejected events, as received. Identical events are kept once, and only a limited number per app and day; batches and data_quality count all of them';
COMMENT ON COLUMN analytics.rejected_events.app IS 'Slug of the app whose key it was sent with';
COMMENT ON COLUMN analytics.rejected_events.rejection IS 'Number of this row, for bellwether rejected replay';
COMMENT ON COLUMN analytics.rejected_events.received_at IS 'When it was first received';
COMMENT ON COLUMN analytics.rejected_events.key IS 'Name of the API key it was sent with';
COMMENT ON COLUMN analytics.rejected_events.reason IS 'Why it was rejected: the first reason that applies';
COMMENT ON COLUMN analytics.rejected_events.detail IS 'Which member, and what is wrong with it';
COMMENT ON COLUMN analytics.rejected_events.install_id IS 'The install that its envelope names; null if it could not be read';
COMMENT ON COLUMN analytics.rejected_events.event_id IS 'Id of the event; null if it could not be read';
COMMENT ON COLUMN analytics.rejected_events.sent_at IS 'When the envelope was sent, according to the client';
COMMENT ON COLUMN analytics.rejected_events.source IS 'The source of its envelope as received, without text that a user typed; null if it was larger than 8 KiB';
COMMENT ON COLUMN analytics.rejected_events.raw IS 'The event as received, without text that a user typed; cut off at 32 KiB';
COMMENT ON COLUMN analytics.rejected_events.batch IS 'Position in the log of the commit that recorded it';
COMMENT ON COLUMN analytics.rejected_events.replayed_at IS 'When bellwether rejected replay got it accepted; null if it has not';

GRANT SELECT ON analytics.rejected_events TO bellwether_analyst;
