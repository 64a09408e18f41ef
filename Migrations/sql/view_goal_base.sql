-- Why: what the rates of goals are of. The fold counts it for apps in shards where they have reached a goal. Elsewhere it
-- is counted here, from the deliveries, so that it is whole from the first goal on, whichever shard or cell that is in.
CREATE OR REPLACE VIEW projection.goal_base AS
SELECT b.app, b.shard, b.day, b.category, b.campaign, b.variant, b.received, b.responded
FROM projection.goal_bases AS b
WHERE b.generation = 0 OR b.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'goal_funnel')
UNION ALL
SELECT idle.app, d.shard, d.day, d.category, d.campaign, d.variant, d.received, d.responded
FROM (
    SELECT a.id AS app, array_agg(p.shard) AS shards
    FROM log.app AS a
    JOIN projection.progress AS p ON a.id <> ALL (p.goal_apps)
    WHERE p.generation = (SELECT g.id FROM projection.generation AS g WHERE g.state = 'live')
    GROUP BY a.id
) AS idle
CROSS JOIN LATERAL (
    SELECT
        d.shard, d.day, coalesce(d.category, 0) AS category, coalesce(d.campaign, 0) AS campaign,
        coalesce(d.variant, 0) AS variant, count(*) FILTER (WHERE d.received) AS received,
        count(*) FILTER (WHERE d.responded) AS responded
    FROM projection.opened_delivery AS d
    WHERE d.app = idle.app AND d.shard = ANY (idle.shards) AND NOT d.silent
        AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
    GROUP BY d.shard, d.day, coalesce(d.category, 0), coalesce(d.campaign, 0), coalesce(d.variant, 0)
) AS d;

REVOKE ALL ON projection.goal_base FROM bellwether_projector;

-- The apps with goals. The others have nothing to be compared with.
CREATE OR REPLACE VIEW counted.goal_app AS
SELECT a.id AS app FROM log.app AS a
WHERE (SELECT true FROM projection.goal_cells AS c WHERE c.app = a.id ORDER BY c.day LIMIT 1);

SELECT cluster.offer('counted.goal_app');
