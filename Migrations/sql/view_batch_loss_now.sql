-- The rows that batches have lost by now. Losses with a month count only once that month's partition has been dropped.
CREATE OR REPLACE VIEW log.batch_loss_now AS
SELECT l.batch_id, l.shard, l.events
FROM log.batch_loss AS l
WHERE l.month IS NULL
    OR EXISTS (SELECT FROM log.partition AS p WHERE p.month = l.month AND p.dropped_at IS NOT NULL);
