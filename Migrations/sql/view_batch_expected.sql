-- What a reader must find of each batch, less what retention and erasure have taken: exactly so many rows in each shard
-- (from 0), or it must stop.
-- Events and expectation go together only if both are read in one statement, or in one snapshot that was taken after
-- LOCK TABLE log.event IN ACCESS SHARE MODE: a month can be dropped between two statements, and under a snapshot.
CREATE OR REPLACE VIEW log.batch_expected AS
SELECT
    b.number, b.id, b.committed_at, b.least_device_at, b.greatest_device_at,
    b.events - coalesce(lost.events, 0) AS events,
    coalesce(lost.shard_events, b.shard_events) AS shard_events
FROM log.batch AS b
LEFT JOIN LATERAL (
    SELECT
        sum(l.events)::integer AS events,
        -- NULL without a loss: then there is nothing to take off.
        CASE WHEN count(*) > 0 THEN (
            SELECT array_agg(had.events - coalesce((
                SELECT sum(l.events) FROM log.batch_loss_now AS l WHERE l.batch_id = b.id AND l.shard = had.place - 1
            ), 0)::integer ORDER BY had.place)
            FROM unnest(b.shard_events) WITH ORDINALITY AS had (events, place)
        ) END AS shard_events
    FROM log.batch_loss_now AS l WHERE l.batch_id = b.id
) AS lost ON true;

GRANT SELECT ON log.batch_expected TO bellwether_projector;
