-- Why: when to send. Only receipts say when a notification arrived, so deliveries without one are in no hour.
CREATE OR REPLACE VIEW counted.hour_funnel AS
SELECT
    d.app, d.day, d.category, extract(hour FROM d.received_at AT TIME ZONE app.time_zone)::smallint AS hour,
    count(*) AS received, count(*) FILTER (WHERE d.expanded) AS expanded, count(*) FILTER (WHERE d.opened) AS opened,
    count(*) FILTER (WHERE d.action_tapped) AS action_tapped,
    count(*) FILTER (WHERE d.story_action_tapped) AS story_action_tapped,
    count(*) FILTER (WHERE d.responded) AS received_responded, count(*) FILTER (WHERE d.engaged) AS received_engaged,
    count(*) FILTER (WHERE d.dismissed) AS dismissed, count(*) FILTER (WHERE d.unanswered) AS unanswered,
    count(*) FILTER (WHERE d.suppressed) AS suppressed
FROM analytics.deliveries AS d
JOIN log.app AS app ON app.slug = d.app
WHERE d.received AND NOT d.silent
GROUP BY 1, 2, 3, 4;

CREATE OR REPLACE VIEW analytics.hour_funnel AS
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
    FROM counted.hour_funnel
    GROUP BY app, day, category, hour
) AS f;

COMMENT ON VIEW analytics.hour_funnel IS 'What became of the notifications with a receipt, by the hour in which they were received, in the app''s time zone. Deliveries without a receipt are not here. The view is computed from deliveries when it is read: give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.hour_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.hour_funnel.hour IS 'Hour of the receipt, 0 to 23, by the clock in the app''s time zone. When clocks are put back, one hour lasts two; when they are put forward, one is missing. A delivery belongs to the day of its first event, so the receipt of a few was in this hour of a later day';

SELECT cluster.offer('counted.hour_funnel');
GRANT SELECT ON analytics.hour_funnel TO bellwether_analyst;
