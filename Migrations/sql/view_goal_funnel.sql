-- Why: what notifications led to. Times are counted up to eleven limits, and three of these are shown here.
CREATE OR REPLACE VIEW analytics.goal_funnel AS
SELECT
    app.slug AS app, f.day, f.category, f.campaign, f.variant, f.goal,
    CASE WHEN f.currency > 0
        THEN chr(64 + (f.currency & 31)) || chr(64 + (f.currency >> 5 & 31)) || chr(64 + (f.currency >> 10 & 31))
        ELSE '' END AS currency,
    ('{response,receipt}'::text[])[f.rule] AS rule,
    f.received::bigint AS received, f.responded::bigint AS responded,
    f.converted_1h::bigint AS converted_1h, f.goals_1h::bigint AS goals_1h, f.value_1h,
    round(f.converted_1h / nullif(CASE f.rule WHEN 1 THEN f.responded ELSE f.received END, 0), 4) AS rate_1h,
    f.converted_24h::bigint AS converted_24h, f.goals_24h::bigint AS goals_24h, f.value_24h,
    round(f.converted_24h / nullif(CASE f.rule WHEN 1 THEN f.responded ELSE f.received END, 0), 4) AS rate_24h,
    f.converted_7d::bigint AS converted_7d, f.goals_7d::bigint AS goals_7d, f.value_7d,
    round(f.converted_7d / nullif(CASE f.rule WHEN 1 THEN f.responded ELSE f.received END, 0), 4) AS rate_7d
FROM (
    -- Apps without goals have nothing to be compared with.
    SELECT a.id, a.slug FROM log.app AS a
    WHERE (SELECT true FROM counted.goal_app AS g WHERE g.app = a.id LIMIT 1)
    OFFSET 0
) AS app
CROSS JOIN LATERAL (
    SELECT
        day, category, campaign, variant, goal, currency, rule,
        sum(sum(received)) OVER (PARTITION BY day, category, campaign, variant) AS received,
        sum(sum(responded)) OVER (PARTITION BY day, category, campaign, variant) AS responded,
        coalesce(sum(converted) FILTER (WHERE bucket <= 3), 0) AS converted_1h,
        coalesce(sum(goals) FILTER (WHERE bucket <= 3), 0) AS goals_1h,
        (coalesce(sum(value_high) FILTER (WHERE bucket <= 3), 0) * 1000000000
            + coalesce(sum(value_low) FILTER (WHERE bucket <= 3), 0)) * 0.000001 AS value_1h,
        coalesce(sum(converted) FILTER (WHERE bucket <= 7), 0) AS converted_24h,
        coalesce(sum(goals) FILTER (WHERE bucket <= 7), 0) AS goals_24h,
        (coalesce(sum(value_high) FILTER (WHERE bucket <= 7), 0) * 1000000000
            + coalesce(sum(value_low) FILTER (WHERE bucket <= 7), 0)) * 0.000001 AS value_24h,
        coalesce(sum(converted) FILTER (WHERE bucket <= 10), 0) AS converted_7d,
        coalesce(sum(goals) FILTER (WHERE bucket <= 10), 0) AS goals_7d,
        (coalesce(sum(value_high) FILTER (WHERE bucket <= 10), 0) * 1000000000
            + coalesce(sum(value_low) FILTER (WHERE bucket <= 10), 0)) * 0.000001 AS value_7d
    FROM counted.goal_funnel AS c WHERE c.app = app.id
    GROUP BY day, category, campaign, variant, goal, currency, rule
) AS f
WHERE f.rule > 0 AND f.goals_7d > 0;

COMMENT ON VIEW analytics.goal_funnel IS 'What people did after a notification: goals within one hour, 24 hours and 7 days (each with its end), on the day of the notification. It says what followed, not what would not have happened without the notification. Silent deliveries do not count, and neither do goals beyond the last 100 of an install and day (UTC), or beyond the last 1,000 of a delivery. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.goal_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.goal_funnel.day IS 'Day of each delivery''s first event in the time zone of the app, not of the goal';
COMMENT ON COLUMN analytics.goal_funnel.category IS 'Notification category; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_funnel.campaign IS 'Campaign; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_funnel.variant IS 'Variant of the campaign; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_funnel.goal IS 'Which goal was reached';
COMMENT ON COLUMN analytics.goal_funnel.currency IS 'Currency of the values; '''' where none was said. Values of different currencies cannot be added up';
COMMENT ON COLUMN analytics.goal_funnel.rule IS 'By what goals are put down to notifications: response (the latest response at or before the goal) or receipt (the latest receipt), at most 7 days before; a goal that names its notification is that notification''s by both. Each goal counts once by each rule: never add up the two';
COMMENT ON COLUMN analytics.goal_funnel.received IS 'Deliveries of this app, day, category, campaign and variant with a receipt, whatever followed';
COMMENT ON COLUMN analytics.goal_funnel.responded IS 'The same with a response: opened, or a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.goal_funnel.converted_1h IS 'Deliveries after which the goal was reached within one hour';
COMMENT ON COLUMN analytics.goal_funnel.goals_1h IS 'Goals reached within one hour; a delivery may have several';
COMMENT ON COLUMN analytics.goal_funnel.value_1h IS 'Sum of the values of these goals, exact to six decimals. Goals without a value add nothing';
COMMENT ON COLUMN analytics.goal_funnel.rate_1h IS 'converted_1h / responded for the rule response, converted_1h / received for the rule receipt; null if that is 0';
COMMENT ON COLUMN analytics.goal_funnel.converted_24h IS 'Deliveries after which the goal was reached within 24 hours';
COMMENT ON COLUMN analytics.goal_funnel.goals_24h IS 'Goals reached within 24 hours; a delivery may have several';
COMMENT ON COLUMN analytics.goal_funnel.value_24h IS 'Sum of the values of these goals, exact to six decimals. Goals without a value add nothing';
COMMENT ON COLUMN analytics.goal_funnel.rate_24h IS 'converted_24h / responded for the rule response, converted_24h / received for the rule receipt; null if that is 0';
COMMENT ON COLUMN analytics.goal_funnel.converted_7d IS 'Deliveries after which the goal was reached within 7 days';
COMMENT ON COLUMN analytics.goal_funnel.goals_7d IS 'Goals reached within 7 days; a delivery may have several';
COMMENT ON COLUMN analytics.goal_funnel.value_7d IS 'Sum of the values of these goals, exact to six decimals. Goals without a value add nothing';
COMMENT ON COLUMN analytics.goal_funnel.rate_7d IS 'converted_7d / responded for the rule response, converted_7d / received for the rule receipt; null if that is 0';
GRANT SELECT ON analytics.goal_funnel TO bellwether_analyst;
