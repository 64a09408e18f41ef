-- The number of rows in each shard (from 0) that a reader must find for each batch, less those that retention and
-- erasure have removed. A reader that finds another number must stop. Read the events and these numbers in one
-- statement, or in one snapshot taken after LOCK TABLE log.event IN ACCESS SHARE MODE. Otherwise a month may be dropped
-- between two statements, or under the snapshot, and the two do not agree.
CREATE OR REPLACE VIEW log.batch_expected AS
SELECT
    b.number, b.id, b.committed_at, b.least_device_at, b.greatest_device_at,
    b.events - coalesce(lost.events, 0) AS events,
    coalesce(lost.shard_events, b.shard_events) AS shard_events
FROM log.batch AS b
LEFT JOIN LATERAL (
    SELECT
        sum(l.events)::integer AS events,
        -- NULL if the batch has lost nothing.
        CASE WHEN count(*) > 0 THEN (
            SELECT array_agg(had.events - coalesce((
                SELECT sum(l.events) FROM log.batch_loss_now AS l WHERE l.batch_id = b.id AND l.shard = had.place - 1
            ), 0)::integer ORDER BY had.place)
            FROM unnest(b.shard_events) WITH ORDINALITY AS had (events, place)
        ) END AS shard_events
    FROM log.batch_loss_now AS l WHERE l.batch_id = b.id
) AS lost ON true;

GRANT SELECT ON log.batch_expected TO bellwether_projector;
