-- Why: says of each kept day whether it can be shown instead of what it would take seconds to compute. `present` is the
-- fingerprint that a result would get now: of the live generation, the changes of the days that it depends on, merged
-- and pruned words, the registered categories (they say which buttons close), the rules of the app's days, and the
-- views. `as_of` says of when the result is: of now while nothing of that has changed. Otherwise it is shown for an hour,
-- unless somebody wants none but present numbers. NULL if it must not be shown: a hub that hides some shards reads
-- nothing that was counted with them.
CREATE OR REPLACE VIEW projection.kept_state AS
SELECT
    k.view, k.app, k.day, k.due_at, k.made_at, k.fingerprint, now.present, k.rows,
    CASE
        WHEN k.rows IS NULL OR cardinality(cluster.hidden_shards()) > 0 THEN NULL
        WHEN k.fingerprint = now.present THEN now()
        WHEN k.made_at > statement_timestamp() - interval '1 hour'
            AND current_setting('bellwether.kept', true) IS DISTINCT FROM 'current' THEN k.made_at
    END AS as_of
FROM projection.kept_day AS k
CROSS JOIN LATERAL (
    SELECT
        concat_ws(
            ' ', live.generation, (
                SELECT coalesce(sum(r.revision), 0) FROM projection.day_revision AS r
                WHERE r.generation = live.generation AND r.app = k.app AND r.day BETWEEN k.first_day AND k.last_day
            ),
            (SELECT h.words FROM log.head AS h),
            (SELECT coalesce(max(e.number), 0) FROM registry.edition AS e WHERE e.app = k.app),
            a.time_zone, coalesce(z.rules, '-'),
            (SELECT extract(epoch FROM max(m.applied_at)) FROM bellwether.migration AS m)
        ) COLLATE "C" AS present
    FROM log.app AS a
    CROSS JOIN (SELECT l.generation FROM projection.live AS l WHERE l.name = 'deliveries') AS live
    LEFT JOIN projection.zone AS z ON z.app = a.id
    WHERE a.id = k.app
    -- Worked out once, though it is used twice.
    OFFSET 0
) AS now
WHERE (SELECT cluster.is_whole());

REVOKE INSERT, UPDATE, DELETE ON projection.kept_state FROM bellwether_projector;
