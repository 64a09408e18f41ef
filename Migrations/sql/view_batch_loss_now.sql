-- The rows that batches have lost by now. Losses with a month count only once that month's partition has been dropped.
-- Of a shard that another cell has now, a batch has lost all rows.
CREATE OR REPLACE VIEW log.batch_loss_now AS
SELECT l.batch_id, l.shard, l.events
FROM log.batch_loss AS l
WHERE l.month IS NULL
    OR EXISTS (SELECT FROM log.partition AS p WHERE p.month = l.month AND p.dropped_at IS NOT NULL)
UNION ALL
SELECT b.id, f.shard, b.shard_events[f.shard + 1]
FROM log.forgotten AS f JOIN log.batch AS b ON b.number <= f.until AND b.shard_events[f.shard + 1] > 0;
