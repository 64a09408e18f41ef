-- Why: gaps in the data should have an explanation.
CREATE OR REPLACE VIEW analytics.client_drops AS
SELECT
    app.slug AS app, d.id AS drop_id, d.received_at, key.name AS key, d.install_id, d.count, d.since, d.reason,
    batch.number AS batch
FROM log.client_drop AS d
JOIN log.app AS app ON app.id = d.app
LEFT JOIN log.api_key AS key ON key.id = d.key
LEFT JOIN log.batch AS batch ON batch.id = d.batch_id
WHERE (SELECT cluster.is_whole());

COMMENT ON VIEW analytics.client_drops IS 'Events that client libraries report they had to drop before they could be sent';
COMMENT ON COLUMN analytics.client_drops.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.client_drops.drop_id IS 'Identity of the report; a repeated report is not counted again';
COMMENT ON COLUMN analytics.client_drops.received_at IS 'When the report was received';
COMMENT ON COLUMN analytics.client_drops.key IS 'Name of the API key it was sent with';
COMMENT ON COLUMN analytics.client_drops.install_id IS 'The install that dropped them, if the envelope names one';
COMMENT ON COLUMN analytics.client_drops.count IS 'How many events were dropped';
COMMENT ON COLUMN analytics.client_drops.since IS 'Time of the oldest dropped event';
COMMENT ON COLUMN analytics.client_drops.reason IS 'age (too old to keep), size (the queue was full) or unreadable (damaged on disk); null if the client gave none of these';
COMMENT ON COLUMN analytics.client_drops.batch IS 'Position in the log of the commit that recorded it';

GRANT SELECT ON analytics.client_drops TO bellwether_analyst;
