-- Why: people answer by their own clock, and an app's people live in many zones. The time zone of a device is what its
-- install last said on the day of the delivery. Only names that PostgreSQL knows are used: a phone may say anything,
-- and an unknown name would end the query. Rows of one day lie together in install_day, by the upper bits of their key.
CREATE OR REPLACE VIEW counted.device_hour_funnel AS
SELECT
    app.slug AS app, days.day, f.category, f.hour, f.received, f.expanded, f.opened, f.action_tapped,
    f.story_action_tapped, f.received_responded, f.received_engaged, f.dismissed, f.unanswered, f.suppressed
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day, ((day - date '1970-01-01')::bigint & 4194303) << 40 AS first_key
    FROM projection.delivered_day AS d WHERE d.app = app.id
    GROUP BY day
) AS days
CROSS JOIN LATERAL (
    SELECT
        d.category, extract(hour FROM d.received_at AT TIME ZONE zone.name)::smallint AS hour,
        count(*) AS received, count(*) FILTER (WHERE d.expanded) AS expanded, count(*) FILTER (WHERE d.opened) AS opened,
        count(*) FILTER (WHERE d.action_tapped) AS action_tapped,
        count(*) FILTER (WHERE d.story_action_tapped) AS story_action_tapped,
        count(*) FILTER (WHERE d.responded) AS received_responded, count(*) FILTER (WHERE d.engaged) AS received_engaged,
        count(*) FILTER (WHERE d.dismissed) AS dismissed, count(*) FILTER (WHERE d.unanswered) AS unanswered,
        count(*) FILTER (WHERE d.suppressed) AS suppressed
    FROM analytics.deliveries AS d
    LEFT JOIN (
        SELECT i.install_id, known.name
        FROM projection.install_day AS i
        JOIN log.word AS said ON said.id = i.time_zone
        JOIN pg_catalog.pg_timezone_names AS known ON known.name = said.value
        WHERE i.app = app.id AND i.day = days.day AND i.key BETWEEN days.first_key AND days.first_key + 1099511627775
            AND i.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
    ) AS zone ON zone.install_id = d.install_id
    WHERE d.app = app.slug AND d.day = days.day AND d.received AND NOT d.silent
    GROUP BY 1, 2
) AS f;

CREATE OR REPLACE VIEW analytics.device_hour_funnel AS
SELECT
    f.app, f.day, f.category, f.hour, f.received::bigint AS received, f.expanded::bigint AS expanded,
    f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.received_responded::bigint AS received_responded,
    f.received_engaged::bigint AS received_engaged, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed,
    round(f.received_responded / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged / nullif(f.received, 0), 4) AS engagement_rate
FROM (
    SELECT
        app, day, category, hour, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(received_responded) AS received_responded, sum(received_engaged) AS received_engaged,
        sum(dismissed) AS dismissed, sum(unanswered) AS unanswered, sum(suppressed) AS suppressed
    FROM counted.device_hour_funnel
    GROUP BY app, day, category, hour
) AS f;

COMMENT ON VIEW analytics.device_hour_funnel IS 'What became of the notifications with a receipt, by the hour in which they were received, by the clock of the device. Deliveries without a receipt are not here. The view is computed from deliveries when it is read: give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.device_hour_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.device_hour_funnel.hour IS 'Hour of the receipt, 0 to 23, in the time zone that the install last gave on that day. Null if it gave none, or one that PostgreSQL does not know. A delivery belongs to the day of its first event, so the receipt of a few was in this hour of a later day';

SELECT cluster.offer('counted.device_hour_funnel');
GRANT SELECT ON analytics.device_hour_funnel TO bellwether_analyst;
