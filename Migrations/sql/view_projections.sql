-- Why: whether the numbers are of now, and which are not.
CREATE OR REPLACE VIEW analytics.projections AS
SELECT
    p.name, p.version, stand.position, head.number - stand.position AS lag,
    greatest(extract(epoch FROM clock_timestamp() - waiting.committed_at), 0) AS lag_seconds,
    CASE
        WHEN p.stopped_at IS NOT NULL THEN 'stopped'
        WHEN waiting.committed_at < clock_timestamp() - interval '60 s' AND shards.moved_at < clock_timestamp() - interval '60 s'
            THEN 'stalled'
        ELSE 'running'
    END AS status,
    p.stopped_batch, p.stopped_at, p.stopped_because
FROM projection.line
JOIN projection.projector AS p ON p.line = line.id
CROSS JOIN LATERAL (SELECT min(position) AS position, max(moved_at) AS moved_at FROM projection.progress WHERE progress.line = line.id) AS shards
CROSS JOIN LATERAL (SELECT least(shards.position, p.stopped_batch - 1) AS position) AS stand
CROSS JOIN (SELECT coalesce(max(number), 0) AS number FROM log.batch) AS head
LEFT JOIN log.batch AS waiting ON waiting.number = stand.position + 1
WHERE line.state = 'live';

COMMENT ON VIEW analytics.projections IS 'How far each projection has folded the log. All that run stand at one position; each funnel holds the batches up to its position';
COMMENT ON COLUMN analytics.projections.name IS 'Name of the projection: that of its view, deliveries, or category_exposures, which category_buttons shows';
COMMENT ON COLUMN analytics.projections.version IS 'Version of the rules by which it was counted; 0 where it has yet to be built. It changes by a rebuild';
COMMENT ON COLUMN analytics.projections.position IS 'Position in the log up to which it holds every batch; some parts may be further';
COMMENT ON COLUMN analytics.projections.lag IS 'Batches behind the head of the log; 0 when level';
COMMENT ON COLUMN analytics.projections.lag_seconds IS 'Age in seconds of the oldest batch that it does not hold yet; 0 when level';
COMMENT ON COLUMN analytics.projections.status IS 'running, stopped, or stalled: behind the log, and not moved for a minute, since nothing that projects is running or a step does not get through (see the log of serve)';
COMMENT ON COLUMN analytics.projections.stopped_batch IS 'The first batch that it could not apply; null when running';
COMMENT ON COLUMN analytics.projections.stopped_at IS 'When it stopped; null when running';
COMMENT ON COLUMN analytics.projections.stopped_because IS 'Why it stopped; null when running. bellwether projection resume NAME brings it back';

GRANT SELECT ON analytics.projections TO bellwether_analyst;
