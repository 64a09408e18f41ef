-- Why: a refused event is somebody's bug; this is where to find whose.
CREATE OR REPLACE VIEW analytics.rejected_events AS
SELECT
    app.slug AS app, r.id AS rejection, r.received_at, key.name AS key, r.reason, r.detail, r.install_id,
    r.event_id,
    r.sent_at, r.source, r.raw, batch.number AS batch, r.replayed_at
FROM log.rejected AS r
JOIN log.app AS app ON app.id = r.app
LEFT JOIN log.api_key AS key ON key.id = r.key
LEFT JOIN log.batch AS batch ON batch.id = r.batch_id;

COMMENT ON VIEW analytics.rejected_events IS 'Events that were refused, as they came. The same raw event is kept once, and only so many a day of one app; batches and data_quality count all';
COMMENT ON COLUMN analytics.rejected_events.app IS 'Slug of the app whose key it came with';
COMMENT ON COLUMN analytics.rejected_events.rejection IS 'Number of this row, for bellwether rejected replay';
COMMENT ON COLUMN analytics.rejected_events.received_at IS 'When it was first received';
COMMENT ON COLUMN analytics.rejected_events.key IS 'Name of the key it came with';
COMMENT ON COLUMN analytics.rejected_events.reason IS 'Why it was refused: the first reason that applies';
COMMENT ON COLUMN analytics.rejected_events.detail IS 'Which member, and what is wrong with it';
COMMENT ON COLUMN analytics.rejected_events.install_id IS 'The install that its envelope names, where that could be read';
COMMENT ON COLUMN analytics.rejected_events.event_id IS 'Its id, where that could be read';
COMMENT ON COLUMN analytics.rejected_events.sent_at IS 'When the client says it sent the envelope';
COMMENT ON COLUMN analytics.rejected_events.source IS 'The source of its envelope as it came, less what a person typed; NULL if it was over 8 KiB';
COMMENT ON COLUMN analytics.rejected_events.raw IS 'The event as it came, less what a person typed; cut at 32 KiB';
COMMENT ON COLUMN analytics.rejected_events.batch IS 'Position in the log of the commit that recorded the refusal';
COMMENT ON COLUMN analytics.rejected_events.replayed_at IS 'When it was accepted after all, by bellwether rejected replay';

GRANT SELECT ON analytics.rejected_events TO bellwether_analyst;
