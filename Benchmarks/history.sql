-- A log of about :events events as phones would have made it: two and a half events a delivery, over :days days, in
-- batches of :batch in the order in which things happened, with message ids that begin with the time, as those of FCM
-- do. Straight into the tables, as their owner. A long log is made of several such parts, one after another: this is
-- :part of :parts, from 0.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SELECT count(log.make_partition((date_trunc('month', now()) - n * interval '1 month')::date)) AS made
FROM generate_series(0, :days / 28 + 1) AS n WHERE n <= 35 \gset
SELECT id AS app FROM log.app WHERE slug = 'bench' \gset
SELECT id AS key FROM log.api_key WHERE app = :app LIMIT 1 \gset
CREATE TEMP TABLE word AS
SELECT kind, name, (
    SELECT id FROM log.learn_words(
        :app, kind::smallint, ARRAY[name], ARRAY[:key], ARRAY[gen_random_uuid()], 100000, 100000, 100000)) AS id
FROM (
    SELECT 1::smallint, 'CATEGORY_' || n FROM generate_series(0, 19) AS n
    UNION ALL SELECT 2, 'thread-' || n FROM generate_series(0, 9) AS n
    UNION ALL SELECT 3, 'campaign-' || n FROM generate_series(0, 49) AS n
    UNION ALL SELECT 8, 'ios'
    UNION ALL SELECT 10, '4.' || n FROM generate_series(0, 9) AS n
    UNION ALL SELECT 15, 'ACTION_' || n FROM generate_series(0, 3) AS n
    UNION ALL SELECT 9, '19.' || n FROM generate_series(0, 9) AS n
    UNION ALL SELECT 12, 'iPhone' || n || ',1' FROM generate_series(0, 9) AS n
    UNION ALL SELECT 13, 'l' || n FROM generate_series(0, 9) AS n
) AS words (kind, name);
CREATE TEMP TABLE lexicon AS
SELECT array_agg(id ORDER BY id) FILTER (WHERE kind = 1) AS category, array_agg(id) FILTER (WHERE kind = 2) AS thread,
    array_agg(id) FILTER (WHERE kind = 3) AS campaign, max(id) FILTER (WHERE kind = 8) AS platform,
    array_agg(id) FILTER (WHERE kind = 10) AS app_version, array_agg(id) FILTER (WHERE kind = 9) AS os_version,
    array_agg(id) FILTER (WHERE kind = 12) AS device_model, array_agg(id) FILTER (WHERE kind = 13) AS locale,
    array_agg(id) FILTER (WHERE kind = 15) AS action
FROM word;
SELECT setseed(0.5 - :part / 1000.0) \gset
-- A delivery each: one in eight is a story of a category of its own.
CREATE TEMP TABLE delivery AS
SELECT *, (extract(epoch FROM at) * 1000000)::bigint::text AS key FROM (SELECT
    n, md5('install' || :part * 1000000000::bigint + (random() * :events / 20)::bigint)::uuid AS install,
    now() - (1 - (:part + random()) / :parts) * :days * interval '1 day' AS at,
    (random() * 19)::integer AS category, (random() * 9)::integer AS thread, (random() * 49)::integer AS campaign,
    (random() * 9)::integer AS version, random() AS fate, (1 + random() * 5)::integer AS pages, (random() * 3)::integer AS button
FROM generate_series(1, (:events / 2.5)::bigint) AS n) AS sent;
CREATE TEMP TABLE happening AS
SELECT n, at, 1::smallint AS type, NULL::smallint AS page FROM delivery WHERE fate > 0.05 OR pages = 3
UNION ALL SELECT n, at + fate * interval '2 hours', 3, NULL FROM delivery WHERE fate < 0.4
UNION ALL SELECT n, at + fate * interval '1 hour', 4, NULL FROM delivery WHERE fate BETWEEN 0.4 AND 0.6
UNION ALL SELECT n, at + fate * interval '1 hour', 5, NULL FROM delivery WHERE fate BETWEEN 0.2 AND 0.4
UNION ALL SELECT n, at + interval '5 seconds', 6, NULL FROM delivery WHERE category >= 18
UNION ALL SELECT n, at + (page * 3 + 6) * interval '1 second', 7, page FROM delivery, generate_series(0, pages - 1) AS page
    WHERE category >= 18;
CREATE TEMP TABLE placed AS
SELECT *, (row_number() OVER (ORDER BY at) - 1) / :batch AS batch FROM happening;
CREATE TEMP TABLE device AS
SELECT v AS version, n AS thread, (SELECT id FROM log.learn_combinations('device', :app, 9, ARRAY[
    l.platform, l.app_version[1 + v], l.os_version[1 + v], 0, l.device_model[1 + n], l.locale[1 + n], 0, 1, 0], 1000000)) AS id
FROM lexicon AS l, generate_series(0, 9) AS v, generate_series(0, 9) AS n;
CREATE TEMP TABLE context AS
SELECT k AS category, n AS thread, c AS campaign, (SELECT id FROM log.learn_combinations('context', :app, 7, ARRAY[
    l.category[1 + k], l.thread[1 + n], l.campaign[1 + c], 0, 0, 0, 0], 1000000)) AS id
FROM lexicon AS l, generate_series(0, 19) AS k, generate_series(0, 9) AS n, generate_series(0, 49) AS c;
ANALYZE placed; ANALYZE delivery; ANALYZE device; ANALYZE context;
SET work_mem = '256MB';
-- Bits as in log.event: shard, type, time_source, key_source and alert; then those of the type.
INSERT INTO log.event (batch_id, device_at, event_id, install_id, app, codes, device, context, seq, own, word_1, notification_key)
SELECT
    1000000000 + :part * 10000000 + p.batch, p.at, gen_random_uuid(), d.install, :app,
    (('x' || right(d.install::text, 1))::bit(4)::integer << 4) | (p.type << 10) | (1 << 15) | (1 << 17) | (2 << 21),
    device.id, context.id, 10 + p.type,
    CASE p.type
        WHEN 1 THEN 1 | CASE WHEN d.button = 0 THEN (1 << 8) | (1 << 12) | (1 << 20) ELSE 0 END
        WHEN 3 THEN 1 WHEN 5 THEN 1 | (1 << 4) WHEN 6 THEN d.pages WHEN 7 THEN p.page + 1
    END,
    CASE p.type WHEN 5 THEN l.action[1 + d.button] END, d.key
FROM placed AS p JOIN delivery AS d USING (n) CROSS JOIN lexicon AS l
JOIN device ON device.version = d.version AND device.thread = d.thread
JOIN context ON context.category = d.category AND context.thread = d.thread AND context.campaign = d.campaign
ORDER BY p.batch;
INSERT INTO log.batch (number, id, committed_at, node, events, received_at, shard_events, least_device_at, greatest_device_at)
SELECT coalesce((SELECT max(number) FROM log.batch), 0) + row_number() OVER (ORDER BY batch_id), batch_id, now(), 'bench',
    sum(events), max(greatest) + interval '1 second', array_agg(events ORDER BY shard), min(least), max(greatest)
FROM (
    SELECT b.batch_id, s.shard, coalesce(e.events, 0)::integer AS events, e.least, e.greatest
    FROM (SELECT DISTINCT batch_id FROM log.event WHERE batch_id >= 1000000000 + :part * 10000000) AS b
    CROSS JOIN generate_series(0, 15) AS s (shard)
    LEFT JOIN (
        SELECT batch_id, codes >> 4 & 63 AS shard, count(*) AS events, min(device_at) AS least, max(device_at) AS greatest
        FROM log.event WHERE batch_id >= 1000000000 + :part * 10000000 GROUP BY 1, 2) AS e USING (batch_id, shard)
) AS counted GROUP BY batch_id;
