-- Why: whether the numbers are up to date, and which are not.
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
FROM projection.generation
JOIN projection.projector AS p ON p.generation = generation.id
CROSS JOIN LATERAL (
    -- The shard furthest behind: others may move while it does not.
    SELECT position, moved_at FROM projection.progress WHERE progress.generation = generation.id
    ORDER BY position, moved_at LIMIT 1
) AS shards
CROSS JOIN LATERAL (SELECT least(shards.position, p.stopped_batch - 1) AS position) AS stand
CROSS JOIN (SELECT coalesce(max(number), 0) AS number FROM log.batch) AS head
LEFT JOIN log.batch AS waiting ON waiting.number = stand.position + 1
WHERE generation.state = 'live';

COMMENT ON VIEW analytics.projections IS 'How far each projection has folded the log. All running projections are at the same position; each funnel has the batches up to its position';
COMMENT ON COLUMN analytics.projections.name IS 'Name of the projection: the name of its view, or deliveries, or category_exposures (shown in category_buttons)';
COMMENT ON COLUMN analytics.projections.version IS 'Version of the rules that it was counted with; 0 if it has yet to be built. A rebuild changes it';
COMMENT ON COLUMN analytics.projections.position IS 'Position in the log: it has every batch up to here; some parts may be further';
COMMENT ON COLUMN analytics.projections.lag IS 'How many batches it is behind the log; 0 when up to date';
COMMENT ON COLUMN analytics.projections.lag_seconds IS 'Age in seconds of the oldest batch that it does not have yet; 0 when up to date';
COMMENT ON COLUMN analytics.projections.status IS 'running, stopped, or stalled: behind the log, and the shard furthest behind has not moved for a minute, because no process runs the projections or a step does not succeed (see the log of serve)';
COMMENT ON COLUMN analytics.projections.stopped_batch IS 'The first batch that it could not apply; null when running';
COMMENT ON COLUMN analytics.projections.stopped_at IS 'When it stopped; null when running';
COMMENT ON COLUMN analytics.projections.stopped_because IS 'Why it stopped; null when running. To resume it: bellwether projection resume NAME';

GRANT SELECT ON analytics.projections TO bellwether_analyst;
