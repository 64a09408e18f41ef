-- Why: the positions of the log, and what each commit added.
CREATE OR REPLACE VIEW analytics.batches AS
SELECT
    b.number AS batch, b.committed_at, b.node, b.events::bigint AS events,
    coalesce(t.duplicate, 0) AS duplicate, coalesce(t.rejected, 0) AS rejected,
    coalesce(t.corrected, 0) AS corrected, coalesce(t.clamped, 0) AS clamped, coalesce(t.late, 0) AS late,
    b.least_device_at, b.greatest_device_at, coalesce(lost.events, 0) AS events_gone
FROM log.batch AS b
LEFT JOIN LATERAL (
    SELECT
        sum(t.duplicate)::bigint AS duplicate, sum(t.corrected)::bigint AS corrected,
        sum(t.clamped)::bigint AS clamped, sum(t.late)::bigint AS late,
        sum((SELECT sum(reason.value::bigint) FROM jsonb_each_text(t.rejected) AS reason))::bigint AS rejected
    FROM log.batch_tally AS t WHERE t.batch_id = b.id
) AS t ON true
LEFT JOIN LATERAL (
    SELECT sum(l.events) AS events FROM log.batch_loss_now AS l WHERE l.batch_id = b.id
) AS lost ON true
WHERE (SELECT cluster.is_whole());

COMMENT ON VIEW analytics.batches IS 'The commits of the log, in order. An erasure is a batch without events. A report at position N has seen the batches up to N and no others';
COMMENT ON COLUMN analytics.batches.batch IS 'Position in the log: numbers follow commit order and have no gaps';
COMMENT ON COLUMN analytics.batches.committed_at IS 'When the commit took its number';
COMMENT ON COLUMN analytics.batches.node IS 'The ingestion process that made the commit';
COMMENT ON COLUMN analytics.batches.events IS 'Events stored by this commit; see events_gone';
COMMENT ON COLUMN analytics.batches.duplicate IS 'Events that repeat stored ones and were not stored again';
COMMENT ON COLUMN analytics.batches.rejected IS 'Events that were rejected; see rejected_events';
COMMENT ON COLUMN analytics.batches.corrected IS 'Stored events whose device clock was more than 5 minutes off and was corrected';
COMMENT ON COLUMN analytics.batches.clamped IS 'Stored events whose time was ahead of the server; they got the time of receipt';
COMMENT ON COLUMN analytics.batches.late IS 'Stored events that were received more than a day after they occurred';
COMMENT ON COLUMN analytics.batches.least_device_at IS 'Earliest device clock among the stored events';
COMMENT ON COLUMN analytics.batches.greatest_device_at IS 'Latest device clock among the stored events';
COMMENT ON COLUMN analytics.batches.events_gone IS 'How many of these events retention or erasure has removed since';

GRANT SELECT ON analytics.batches TO bellwether_analyst;
