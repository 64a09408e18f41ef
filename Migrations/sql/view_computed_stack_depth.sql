-- Why: whether notifications are ignored because too many unanswered ones are already stacked up. The depth of a stack
-- depends on other deliveries, and late events change it. So it is computed day by day, from the deliveries of that day
-- and of the 24 hours before it. For each install (and each of its groups), in order of time, an arrival counts +1 and
-- its end -1: the running sum at an arrival is the depth of the stack, including that arrival. A notification that is
-- answered at the very moment of an arrival was still there, so arrivals come before ends. `first_day` and `last_day`
-- are the days that were read for it: see `projection.kept_day`.
CREATE OR REPLACE VIEW projection.stack_depth_funnel AS
SELECT
    app.id AS app, days.day, days.since AS first_day, days.day AS last_day, f.scope, f.depth_bucket,
    f.delivered::bigint AS delivered, f.received::bigint AS received, f.expanded::bigint AS expanded,
    f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, f.engaged::bigint AS engaged,
    f.received_engaged::bigint AS received_engaged, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, (day + 1)::timestamp AT TIME ZONE app.time_zone AS ends,
        -- The day before, or the one before that if the day before was shorter than 24 hours.
        ((day::timestamp AT TIME ZONE app.time_zone - interval '24 hours') AT TIME ZONE app.time_zone)::date AS since
    FROM projection.delivered_day AS d WHERE d.app = app.id
    GROUP BY day
) AS days
CROSS JOIN LATERAL (
    SELECT
        scope, ('{1,2-4,5+}'::text[])[bucket] AS depth_bucket,
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(responded) AS responded, sum(received_responded) AS received_responded, sum(engaged) AS engaged,
        sum(received_engaged) AS received_engaged, sum(dismissed) AS dismissed, sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached
    FROM (
        -- The bits of `flags`, which elsewhere only opened_delivery knows: one number through two sorts. Its eleven facts in
        -- columns of their own took a fifth more time in a trial with 400,000 rows.
        SELECT
            in_thread, in_app, count(*) AS delivered, count(*) FILTER (WHERE flags & 2 <> 0) AS received,
            count(*) FILTER (WHERE flags & 4 <> 0) AS expanded, count(*) FILTER (WHERE flags & 8 <> 0) AS opened,
            count(*) FILTER (WHERE flags & 32 <> 0) AS action_tapped,
            count(*) FILTER (WHERE flags & 64 <> 0) AS story_action_tapped,
            count(*) FILTER (WHERE flags & (8 | 32 | 64) <> 0) AS responded,
            count(*) FILTER (WHERE flags & 2 <> 0 AND flags & (8 | 32 | 64) <> 0) AS received_responded,
            count(*) FILTER (WHERE flags & (8 | 32 | 64) <> 0 AND NOT closed) AS engaged,
            count(*) FILTER (WHERE flags & 2 <> 0 AND flags & (8 | 32 | 64) <> 0 AND NOT closed) AS received_engaged,
            count(*) FILTER (WHERE flags & 16 <> 0) AS dismissed,
            count(*) FILTER (WHERE flags & (8 | 16 | 32 | 64) = 0) AS unanswered,
            count(*) FILTER (WHERE flags & 1024 <> 0) AS suppressed,
            count(*) FILTER (WHERE flags & 128 <> 0) AS media_attached
        FROM (
            SELECT
                step.day, step.flags, step.closed,
                CASE WHEN sum(up) OVER in_thread < 2 THEN 1 WHEN sum(up) OVER in_thread < 5 THEN 2 ELSE 3 END AS in_thread,
                CASE WHEN sum(up) OVER in_app < 2 THEN 1 WHEN sum(up) OVER in_app < 5 THEN 2 ELSE 3 END AS in_app
            FROM (
                SELECT
                    d.day, d.flags, d.install_id, d.thread, d.first_occurred_at AS at, 1 AS up,
                    d.sole AND coalesce((d.app, d.category, d.first_response)
                        IN (SELECT c.app, c.category, c.action_id FROM registry.closing_button AS c), false) AS closed
                FROM projection.opened_delivery AS d
                WHERE d.app = app.id AND d.day BETWEEN days.since AND days.day AND NOT d.silent
                    AND (
                        d.generation = 0
                        OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
                    )
                UNION ALL
                SELECT NULL, NULL, d.install_id, d.thread, least(d.answered_at, d.first_occurred_at + interval '24 hours'), -1, NULL
                FROM projection.opened_delivery AS d
                WHERE d.app = app.id AND d.day BETWEEN days.since AND days.day AND NOT d.silent
                    AND least(d.answered_at, d.first_occurred_at + interval '24 hours') < days.ends
                    AND (
                        d.generation = 0
                        OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
                    )
            ) AS step
            WINDOW
                in_thread AS (PARTITION BY install_id, thread ORDER BY at, up DESC),
                in_app AS (PARTITION BY install_id ORDER BY at, up DESC)
        ) AS delivery
        WHERE delivery.day = days.day
        GROUP BY in_thread, in_app
    ) AS both_scopes
    CROSS JOIN LATERAL (VALUES ('thread', in_thread), ('app', in_app)) AS named (scope, bucket)
    GROUP BY scope, bucket
) AS f;

REVOKE INSERT, UPDATE, DELETE ON projection.stack_depth_funnel FROM bellwether_projector;
