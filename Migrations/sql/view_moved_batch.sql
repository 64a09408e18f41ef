-- Why: an export of all cells has each event once. These are batches with events that another cell had before, and how
-- far a cell has forgotten shards.
CREATE OR REPLACE VIEW cells.moved_batch AS
SELECT
    b.number AS batch, source.name AS source, b.moved_until AS until,
    ARRAY(SELECT (s.place - 1)::smallint FROM unnest(b.shard_events) WITH ORDINALITY AS s (events, place)
        WHERE s.events > 0) AS shards
FROM log.batch AS b LEFT JOIN cluster.cell AS source ON source.cell = b.moved_from
WHERE b.moved_from IS NOT NULL;

CREATE OR REPLACE VIEW cells.forgotten AS SELECT shard, until FROM log.forgotten;

GRANT SELECT ON cells.moved_batch, cells.forgotten TO bellwether_analyst;
