-- Four weeks of goals of a large app, and an experiment of it, put straight into the tables as their owner.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET synchronous_commit = off;
SELECT setseed(0.5) \gset
SELECT id AS app FROM log.app WHERE slug = 'shop' \gset
SELECT id AS key FROM log.api_key WHERE app = :app LIMIT 1 \gset
SELECT count(log.make_partition((date '2026-09-01' + n * interval '1 month')::date)) AS made FROM generate_series(0, 2) AS n \gset
CREATE TEMP TABLE word AS
SELECT kind, name, (
    SELECT id FROM log.learn_words(
        :app, kind::smallint, ARRAY[name], ARRAY[:key], ARRAY[gen_random_uuid()], 100000, 100000, 100000)) AS id
FROM (
    SELECT 1::smallint, 'CATEGORY_' || n FROM generate_series(0, 19) AS n
    UNION ALL SELECT 3, 'campaign-' || n FROM generate_series(0, 49) AS n
    UNION ALL SELECT 4, unnest('{a,b}'::text[])
    UNION ALL SELECT 19, unnest('{purchase,cart,renewal}'::text[])
) AS words (kind, name);
CREATE TEMP TABLE lexicon AS
SELECT array_agg(id ORDER BY id) FILTER (WHERE kind = 1) AS category, array_agg(id) FILTER (WHERE kind = 3) AS campaign,
    array_agg(id) FILTER (WHERE kind = 4) AS variant, array_agg(id) FILTER (WHERE kind = 19) AS goal
FROM word;
UPDATE projection.progress SET goal_apps = ARRAY[:app];

-- 50,000 goals a day, each by both rules. On the last day 50 campaigns have two variants each. Before, 20 campaigns have
-- most for the first of them, and one in three has variants.
CREATE FUNCTION pg_temp.cells(of_day date, campaigns integer, skew float8) RETURNS void LANGUAGE sql AS $$
    INSERT INTO projection.goal_cells (
        app, day, category, campaign, variant, goal, currency, rule, bucket, shard, generation, goals, converted, value_high,
        value_low)
    SELECT
        (SELECT id FROM log.app WHERE slug = 'shop'), of_day, l.category[1 + c % 20], l.campaign[1 + c],
        CASE WHEN campaigns > 20 OR c % 3 = 0 THEN l.variant[1 + v] ELSE 0 END, l.goal[1 + g],
        CASE WHEN g = 1 THEN 0 ELSE 19109 END::smallint, rule, least(10, floor(soon))::smallint, shard, 1, count(*), count(*),
        sum(value) / 1000000000, sum(value)::bigint % 1000000000
    FROM lexicon AS l, LATERAL (
        SELECT floor(power(random(), skew) * campaigns)::integer AS c, random()::integer AS v, floor(random() * 3)::integer AS g,
            rule::smallint, -ln(1 - random()) * 3 AS soon, floor(random() * 16)::smallint AS shard,
            floor(random() * 100000000)::bigint AS value
        FROM generate_series(1, 2) AS rule, generate_series(1, 50000)
    ) AS reached
    GROUP BY 3, 4, 5, 6, 7, 8, 9, 10;
    INSERT INTO projection.goal_bases (app, day, category, campaign, variant, shard, generation, received, responded)
    SELECT app, day, category, campaign, variant, shard, 1, 625, 90
    FROM projection.goal_cells WHERE day = of_day GROUP BY 1, 2, 3, 4, 5, 6
$$;
SELECT count(pg_temp.cells(date '2026-11-20' - n, 20, 2)) AS made FROM generate_series(1, 27) AS n \gset
SELECT pg_temp.cells('2026-11-20', 50, 1) AS made \gset

-- A million installs, each on three of the 28 days before the start; 300,000 goals, 30,000 that turned notifications off and
-- 700,000 receipts in the 28 days after it.
CREATE TEMP TABLE install AS
SELECT n, md5('install' || n)::uuid AS id, (n % 16)::smallint AS shard FROM generate_series(1, 1000000) AS n;
INSERT INTO projection.install_day (key, first_at, last_at, install_id, generation, app, day, codes, shard, state)
SELECT
    ((day - date '1970-01-01')::bigint << 40) | ('x' || left(md5(id::text), 10))::bit(40)::bigint, day + interval '10 hours',
    day + interval '11 hours', id, 1, :app, day, 1, shard, '\x00112233445566778899aabbccddeeff'
FROM generate_series(0, 27) AS ago
CROSS JOIN LATERAL (SELECT date '2026-10-22' - ago AS day) AS x
CROSS JOIN LATERAL (SELECT id, shard FROM install WHERE (n + ago * 7) % 9 = 0) AS i;
INSERT INTO log.event (batch_id, device_at, event_id, install_id, app, codes, word_1, own, amount_1)
SELECT
    1, timestamptz '2026-10-23 00:00+0' + random() * interval '28 days', gen_random_uuid(), i.id, :app,
    i.shard::integer << 4 | kind << 10, CASE kind WHEN 12 THEN (SELECT goal[1] FROM lexicon) END,
    CASE kind WHEN 12 THEN 19109 ELSE 4 END, CASE kind WHEN 12 THEN (random() * 100000000)::integer END
FROM (SELECT 12 AS kind, generate_series(1, 300000) AS s UNION ALL SELECT 11, generate_series(1, 30000)) AS deed
JOIN install AS i ON i.n = 1 + (s * 7919::bigint * kind) % 1000000;
INSERT INTO projection.delivery (
    key, first_occurred_at, install_id, generation, app, day, flags, codes, campaign, shard, notification_key, state)
SELECT
    s, timestamptz '2026-10-23 08:00+0' + s % 28 * interval '1 day' + random() * interval '1 hour', i.id, 1, :app,
    date '2026-10-23' + s % 28, 2, 0, (SELECT campaign[8] FROM lexicon), i.shard, 'k' || s, '\x00112233445566778899aabbccddeeff'
FROM generate_series(1, 700000) AS s JOIN install AS i ON i.n = 1 + (s * 15485863::bigint) % 1000000;
INSERT INTO projection.campaign_funnel (
    app, day, campaign, variant, shard, generation, delivered, received, expanded, opened, action_tapped, story_action_tapped,
    responded, received_responded, dismissed, unanswered, suppressed, media_attached)
SELECT :app, date '2026-10-23' + n, (SELECT campaign[8] FROM lexicon), 0, 0, 1, 25000, 25000, 0, 0, 0, 0, 0, 0, 0, 25000, 0, 0
FROM generate_series(0, 27) AS n;
INSERT INTO registry.experiment_version (app, experiment, version, control, threshold, salt, starts_at, ends_at, campaigns, goals)
VALUES (:app, 'push', 1, 10, '\x199999999999999a', 'a salt', '2026-10-23 00:00+0', '2026-11-20 00:00+0', '{campaign-7}', '{purchase}');
VACUUM (ANALYZE) projection.goal_cells, projection.goal_bases, projection.install_day, projection.delivery, log.event;
