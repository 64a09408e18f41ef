-- Why: what each commit added, app by app: whoever may read some apps only can follow the log by it, too. The times are
-- looked up in the events of the commit, if a query asks for them; grouped, so that PostgreSQL does not walk all events
-- in the order of their times to find the first of the commit.
CREATE OR REPLACE VIEW analytics.app_batches AS
SELECT
    app.slug AS app, b.number AS batch, b.committed_at, b.node, t.events, t.duplicate, t.rejected, t.corrected, t.clamped, t.late,
    (
        SELECT min(e.device_at) FROM log.event AS e WHERE e.batch_id = b.id AND e.app = app.id GROUP BY e.batch_id
    ) AS least_device_at,
    (
        SELECT max(e.device_at) FROM log.event AS e WHERE e.batch_id = b.id AND e.app = app.id GROUP BY e.batch_id
    ) AS greatest_device_at
FROM log.batch AS b
CROSS JOIN LATERAL (
    SELECT
        t.app, sum(t.accepted)::bigint AS events, sum(t.duplicate)::bigint AS duplicate,
        coalesce(sum((SELECT sum(reason.value::bigint) FROM jsonb_each_text(t.rejected) AS reason)), 0)::bigint AS rejected,
        sum(t.corrected)::bigint AS corrected, sum(t.clamped)::bigint AS clamped, sum(t.late)::bigint AS late
    FROM log.batch_tally AS t WHERE t.batch_id = b.id
    GROUP BY t.app
) AS t
JOIN log.app AS app ON app.id = t.app
WHERE (SELECT cluster.is_whole());

COMMENT ON VIEW analytics.app_batches IS 'What each commit of the log added, app by app. A commit that brings nothing of an app has no row of it';
SELECT log.describe_like('analytics.app_batches', 'analytics.batches');
COMMENT ON COLUMN analytics.app_batches.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.app_batches.events IS 'Events of the app stored by this commit';
COMMENT ON COLUMN analytics.app_batches.rejected IS 'Events of the app that were rejected; see rejected_events';
COMMENT ON COLUMN analytics.app_batches.least_device_at IS 'Earliest device clock among the stored events of the app';
COMMENT ON COLUMN analytics.app_batches.greatest_device_at IS 'Latest device clock among the stored events of the app';

GRANT SELECT ON analytics.app_batches TO bellwether_analyst;
