-- Why: what an experiment counts, day by day, in one pass over its installs and one over what they did. It is computed
-- when it is read. Hubs read it in each cell and add up: an install is in one cell.
--
-- An install counts if it has an event in the 28 days before the start, by the days of installs. So it was first seen
-- before the start. The place that the arm rule gives it also joins it to its events, beside its id: ids that clients
-- choose may all have one hash in PostgreSQL, and no client knows the salt.
--
-- It is a function so that PostgreSQL plans with the experiment's own times: without them it expects a few installs, and
-- a million took three times as long. It still expects few deeds, and would sort a million of each side to join them.
CREATE OR REPLACE FUNCTION registry.count_experiment(of_app integer, of_experiment text)
RETURNS TABLE (
    arm text, goal text, day date, is_whole boolean, installs bigint, reached bigint, goals bigint, value numeric,
    least_currency text, greatest_currency text, turned_off bigint, exposed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = 'force_custom_plan' SET jit = 'off' SET work_mem = '128MB' SET enable_mergejoin = 'off'
AS $$
#variable_conflict use_column
DECLARE
    e record;
    zone text := (SELECT a.time_zone FROM log.app AS a WHERE a.id = of_app);
    start_day integer;
    campaign_words integer[];
    is_kept boolean;
BEGIN
    SELECT n.* INTO STRICT e FROM registry.newest_experiment AS n WHERE n.app = of_app AND n.experiment = of_experiment;
    start_day := (e.starts_at AT TIME ZONE 'UTC')::date - date '1970-01-01';
    -- Under the names that they count as now. 3 and 19 are the codes of campaigns and goals among the kinds of words.
    e.campaigns := ARRAY(
        SELECT DISTINCT coalesce(m.value, named.word) FROM unnest(e.campaigns) AS named (word)
        LEFT JOIN log.merged_word AS m ON m.app = e.app AND m.kind = 3 AND m.sent = named.word);
    e.goals := ARRAY(
        SELECT DISTINCT coalesce(m.value, named.word) FROM unnest(e.goals) AS named (word)
        LEFT JOIN log.merged_word AS m ON m.app = e.app AND m.kind = 19 AND m.sent = named.word);
    campaign_words := ARRAY(
        SELECT w.id FROM log.word AS w WHERE w.app = e.app AND w.kind = 3 AND w.value = ANY (e.campaigns));
    -- Whether retention has left all events that decide. If not, nothing is counted: the rest would look like an answer.
    is_kept := NOT EXISTS (
        SELECT FROM log.partition AS p
        WHERE p.closed_at IS NOT NULL
            AND (p.month + interval '1 month') AT TIME ZONE 'UTC' > e.starts_at - interval '672 hours'
            AND p.month::timestamp AT TIME ZONE 'UTC' < coalesce(e.ends_at, 'infinity'));
    RETURN QUERY
    WITH install AS MATERIALIZED (
        SELECT install_id, place, CASE WHEN place < e.threshold THEN 'control' ELSE 'treated' END AS arm
        FROM (
            SELECT d.install_id, substr(sha256(convert_to(e.salt || ':' || d.install_id, 'UTF8')), 1, 8) AS place
            FROM projection.install_day AS d
            WHERE d.app = e.app AND is_kept
                AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
                AND (SELECT cluster.is_whole())
                AND ((SELECT cluster.hidden_shards()) IS NULL OR d.shard <> ALL ((SELECT cluster.hidden_shards())::smallint[]))
                -- Keys begin with the day.
                AND d.key BETWEEN (start_day - 30)::bigint << 40 AND (start_day + 2)::bigint << 40
                AND d.first_at < e.starts_at
                AND coalesce(d.last_at, d.first_at) >= e.starts_at - interval '672 hours'
            GROUP BY d.key & 1099511627775, d.install_id
        ) AS seen
    ), size AS MATERIALIZED (
        SELECT arm, count(*) AS installs FROM install GROUP BY arm
    ), deed AS (
        -- Goals by their names; permissions that were turned off, and receipts, without one.
        SELECT
            v.install_id, coalesce(v.occurred_at, v.device_at) AS at, false AS is_receipt,
            CASE WHEN v.codes >> 10 & 31 = 12 THEN CASE WHEN e.goals = '{}' THEN '' ELSE goal.value END END AS goal,
            coalesce(v.amount_1, (v.rare ->> 'value')::bigint) AS value,
            CASE WHEN v.own & 32767 > 0
                THEN chr(64 + (v.own & 31)) || chr(64 + (v.own >> 5 & 31)) || chr(64 + (v.own >> 10 & 31))
                ELSE '' END AS currency
        FROM log.event AS v
        LEFT JOIN log.word AS goal ON goal.id = v.word_1 AND goal.kind = 19
        WHERE v.app = e.app AND is_kept AND (v.codes >> 10 & 31) IN (11, 12)
            AND coalesce(v.occurred_at, v.device_at) >= e.starts_at
            AND coalesce(v.occurred_at, v.device_at) < coalesce(e.ends_at, 'infinity')
            AND ((SELECT cluster.hidden_shards()) IS NULL
                OR (v.codes >> 4 & 63)::smallint <> ALL ((SELECT cluster.hidden_shards())::smallint[]))
            AND CASE WHEN v.codes >> 10 & 31 = 11 THEN v.own & 15 = 4
                ELSE e.goals = '{}' OR goal.value = ANY (e.goals) END
        UNION ALL
        SELECT d.install_id, d.received_at, true, NULL, NULL, NULL
        FROM projection.opened_delivery AS d
        WHERE d.app = e.app AND is_kept AND campaign_words <> '{}'
            AND d.campaign = ANY (campaign_words)
            AND (d.generation = 0 OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
            AND d.received_at >= e.starts_at AND d.received_at < coalesce(e.ends_at, 'infinity')
            -- Only the days on which a campaign has a delivery.
            AND d.day = ANY (ARRAY(
                SELECT f.day FROM projection.campaign_funnel AS f
                WHERE f.app = e.app AND f.campaign = ANY (campaign_words)
                    AND (f.generation = 0
                        OR f.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'campaign_funnel'))
                UNION
                SELECT f.day FROM projection.silent_funnel AS f
                WHERE f.app = e.app AND f.campaign = ANY (campaign_words)
                    AND (f.generation = 0
                        OR f.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'silent_funnel'))
            ))
    ), joined AS MATERIALIZED (
        SELECT
            i.arm, i.place, i.install_id, deed.goal, deed.is_receipt, (deed.at AT TIME ZONE zone)::date AS day, deed.value,
            deed.currency
        FROM deed
        JOIN install AS i
            ON i.place = substr(sha256(convert_to(e.salt || ':' || deed.install_id, 'UTF8')), 1, 8)
            AND i.install_id = deed.install_id
    ), first AS (
        -- Each install on the first such day.
        SELECT arm, goal, is_receipt, day, count(*) AS installs
        FROM (
            SELECT arm, goal, is_receipt, min(day) AS day FROM joined GROUP BY arm, place, install_id, goal, is_receipt
        ) AS install_first
        GROUP BY arm, goal, is_receipt, day
    ), done AS (
        SELECT
            arm, goal, is_receipt, day, count(*) AS deeds, sum(value) AS value, min(currency COLLATE "C") AS least_currency,
            max(currency COLLATE "C") AS greatest_currency
        FROM joined GROUP BY arm, goal, is_receipt, day
    ), counted AS MATERIALIZED (
        SELECT
            done.arm, done.goal, done.is_receipt, done.day, first.installs, done.deeds, done.value, done.least_currency,
            done.greatest_currency
        FROM done
        LEFT JOIN first
            ON first.arm = done.arm AND first.is_receipt = done.is_receipt AND first.day = done.day
            AND first.goal IS NOT DISTINCT FROM done.goal
    )
    SELECT
        arm.arm, goal.goal, days.day, is_kept,
        CASE WHEN days.day IS NULL THEN coalesce((SELECT size.installs FROM size WHERE size.arm = arm.arm), 0) END AS installs,
        sum(counted.installs) FILTER (WHERE counted.goal = goal.goal)::bigint AS reached,
        sum(counted.deeds) FILTER (WHERE counted.goal = goal.goal)::bigint AS goals,
        sum(counted.value) FILTER (WHERE counted.goal = goal.goal) * 0.000001 AS value,
        min(counted.least_currency) FILTER (WHERE counted.goal = goal.goal) AS least_currency,
        max(counted.greatest_currency) FILTER (WHERE counted.goal = goal.goal) AS greatest_currency,
        sum(counted.installs) FILTER (WHERE counted.goal IS NULL AND NOT counted.is_receipt)::bigint AS turned_off,
        sum(counted.installs) FILTER (WHERE counted.is_receipt)::bigint AS exposed
    FROM (VALUES ('control'), ('treated')) AS arm (arm)
    CROSS JOIN unnest(CASE WHEN e.goals = '{}' THEN '{""}' ELSE e.goals END) AS goal (goal)
    -- NULL stands for the arm as a whole.
    CROSS JOIN (
        SELECT NULL::date AS day UNION SELECT (e.starts_at AT TIME ZONE zone)::date
        UNION SELECT counted.day FROM counted
    ) AS days
    LEFT JOIN counted
        ON counted.arm = arm.arm AND counted.day = days.day AND (counted.goal = goal.goal OR counted.goal IS NULL)
    GROUP BY arm.arm, goal.goal, days.day;
END
$$;
REVOKE ALL ON FUNCTION registry.count_experiment FROM PUBLIC;
GRANT EXECUTE ON FUNCTION registry.count_experiment TO bellwether_analyst;

CREATE OR REPLACE VIEW counted.experiment_count AS
SELECT
    app.slug AS app, e.experiment, c.arm, c.goal, c.day, c.is_whole, c.installs, c.reached, c.goals, c.value,
    c.least_currency, c.greatest_currency, c.turned_off, c.exposed
FROM log.app AS app
JOIN registry.newest_experiment AS e ON e.app = app.id
CROSS JOIN LATERAL registry.count_experiment(e.app, e.experiment) AS c;

SELECT cluster.offer('counted.experiment_count');
