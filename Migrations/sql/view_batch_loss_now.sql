-- The rows that batches have lost by now: those of a month that is yet to be dropped are still there.
CREATE OR REPLACE VIEW log.batch_loss_now AS
SELECT l.batch_id, l.shard, l.events
FROM log.batch_loss AS l
WHERE l.month IS NULL
    OR EXISTS (SELECT FROM log.partition AS p WHERE p.month = l.month AND p.dropped_at IS NOT NULL);
