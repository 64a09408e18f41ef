-- Why: how soon people did it. Any other window than those of goal_funnel is one of these rows.
CREATE OR REPLACE VIEW analytics.goal_times AS
SELECT
    app.slug AS app, f.day, f.category, f.campaign, f.variant, f.goal,
    CASE WHEN f.currency > 0
        THEN chr(64 + (f.currency & 31)) || chr(64 + (f.currency >> 5 & 31)) || chr(64 + (f.currency >> 10 & 31))
        ELSE '' END AS currency,
    ('{response,receipt}'::text[])[f.rule] AS rule,
    f.minutes AS within_minutes, f.received::bigint AS received, f.responded::bigint AS responded,
    f.converted::bigint AS converted, f.goals::bigint AS goals,
    (f.value_high * 1000000000 + f.value_low) * 0.000001 AS value,
    round(f.converted / nullif(CASE f.rule WHEN 1 THEN f.responded ELSE f.received END, 0), 4) AS rate
FROM (
    -- Apps without goals have nothing to be compared with.
    SELECT a.id, a.slug FROM log.app AS a
    WHERE (SELECT true FROM counted.goal_app AS g WHERE g.app = a.id LIMIT 1)
    OFFSET 0
) AS app
CROSS JOIN LATERAL (
    SELECT
        f.*, within.minutes, f.converted_by[within.place] AS converted, f.goals_by[within.place] AS goals,
        f.high_by[within.place] AS value_high, f.low_by[within.place] AS value_low
    FROM (
        SELECT
            day, category, campaign, variant, goal, currency, rule,
            sum(sum(received)) OVER (PARTITION BY day, category, campaign, variant) AS received,
            sum(sum(responded)) OVER (PARTITION BY day, category, campaign, variant) AS responded,
            ARRAY[
                coalesce(sum(converted) FILTER (WHERE bucket <= 0), 0), coalesce(sum(converted) FILTER (WHERE bucket <= 1), 0),
                coalesce(sum(converted) FILTER (WHERE bucket <= 2), 0), coalesce(sum(converted) FILTER (WHERE bucket <= 3), 0),
                coalesce(sum(converted) FILTER (WHERE bucket <= 4), 0), coalesce(sum(converted) FILTER (WHERE bucket <= 5), 0),
                coalesce(sum(converted) FILTER (WHERE bucket <= 6), 0), coalesce(sum(converted) FILTER (WHERE bucket <= 7), 0),
                coalesce(sum(converted) FILTER (WHERE bucket <= 8), 0), coalesce(sum(converted) FILTER (WHERE bucket <= 9), 0),
                coalesce(sum(converted) FILTER (WHERE bucket <= 10), 0)
            ] AS converted_by,
            ARRAY[
                coalesce(sum(goals) FILTER (WHERE bucket <= 0), 0), coalesce(sum(goals) FILTER (WHERE bucket <= 1), 0),
                coalesce(sum(goals) FILTER (WHERE bucket <= 2), 0), coalesce(sum(goals) FILTER (WHERE bucket <= 3), 0),
                coalesce(sum(goals) FILTER (WHERE bucket <= 4), 0), coalesce(sum(goals) FILTER (WHERE bucket <= 5), 0),
                coalesce(sum(goals) FILTER (WHERE bucket <= 6), 0), coalesce(sum(goals) FILTER (WHERE bucket <= 7), 0),
                coalesce(sum(goals) FILTER (WHERE bucket <= 8), 0), coalesce(sum(goals) FILTER (WHERE bucket <= 9), 0),
                coalesce(sum(goals) FILTER (WHERE bucket <= 10), 0)
            ] AS goals_by,
            ARRAY[
                coalesce(sum(value_high) FILTER (WHERE bucket <= 0), 0), coalesce(sum(value_high) FILTER (WHERE bucket <= 1), 0),
                coalesce(sum(value_high) FILTER (WHERE bucket <= 2), 0), coalesce(sum(value_high) FILTER (WHERE bucket <= 3), 0),
                coalesce(sum(value_high) FILTER (WHERE bucket <= 4), 0), coalesce(sum(value_high) FILTER (WHERE bucket <= 5), 0),
                coalesce(sum(value_high) FILTER (WHERE bucket <= 6), 0), coalesce(sum(value_high) FILTER (WHERE bucket <= 7), 0),
                coalesce(sum(value_high) FILTER (WHERE bucket <= 8), 0), coalesce(sum(value_high) FILTER (WHERE bucket <= 9), 0),
                coalesce(sum(value_high) FILTER (WHERE bucket <= 10), 0)
            ] AS high_by,
            ARRAY[
                coalesce(sum(value_low) FILTER (WHERE bucket <= 0), 0), coalesce(sum(value_low) FILTER (WHERE bucket <= 1), 0),
                coalesce(sum(value_low) FILTER (WHERE bucket <= 2), 0), coalesce(sum(value_low) FILTER (WHERE bucket <= 3), 0),
                coalesce(sum(value_low) FILTER (WHERE bucket <= 4), 0), coalesce(sum(value_low) FILTER (WHERE bucket <= 5), 0),
                coalesce(sum(value_low) FILTER (WHERE bucket <= 6), 0), coalesce(sum(value_low) FILTER (WHERE bucket <= 7), 0),
                coalesce(sum(value_low) FILTER (WHERE bucket <= 8), 0), coalesce(sum(value_low) FILTER (WHERE bucket <= 9), 0),
                coalesce(sum(value_low) FILTER (WHERE bucket <= 10), 0)
            ] AS low_by
        FROM counted.goal_funnel AS c WHERE c.app = app.id
        GROUP BY day, category, campaign, variant, goal, currency, rule
    ) AS f
    CROSS JOIN unnest('{5,15,30,60,180,360,720,1440,2880,4320,10080}'::integer[]) WITH ORDINALITY AS within (minutes, place)
) AS f
WHERE f.rule > 0 AND f.goals > 0;

COMMENT ON VIEW analytics.goal_times IS 'The goals of goal_funnel within each of eleven times: 5, 15 and 30 minutes, 1, 3, 6, 12 and 24 hours, 2, 3 and 7 days, each with its end. Each row includes all shorter times, so do not add them up. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.goal_times.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.goal_times.day IS 'Day of each delivery''s first event in the time zone of the app, not of the goal';
COMMENT ON COLUMN analytics.goal_times.category IS 'Notification category; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_times.campaign IS 'Campaign; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_times.variant IS 'Variant of the campaign; '''' for deliveries without one';
COMMENT ON COLUMN analytics.goal_times.goal IS 'Which goal was reached';
COMMENT ON COLUMN analytics.goal_times.currency IS 'Currency of the values; '''' where none was said. Values of different currencies cannot be added up';
COMMENT ON COLUMN analytics.goal_times.rule IS 'By what goals are put down to notifications: response (the latest response at or before the goal) or receipt (the latest receipt), at most 7 days before; a goal that names its notification is that notification''s by both. Each goal counts once by each rule: never add up the two';
COMMENT ON COLUMN analytics.goal_times.received IS 'Deliveries of this app, day, category, campaign and variant with a receipt, whatever followed';
COMMENT ON COLUMN analytics.goal_times.responded IS 'The same with a response: opened, or a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.goal_times.within_minutes IS 'The time, in minutes. A time within which no goal was reached has no row';
COMMENT ON COLUMN analytics.goal_times.converted IS 'Deliveries after which the goal was reached within that time';
COMMENT ON COLUMN analytics.goal_times.goals IS 'Goals reached within that time; a delivery may have several';
COMMENT ON COLUMN analytics.goal_times.value IS 'Sum of the values of these goals, exact to six decimals';
COMMENT ON COLUMN analytics.goal_times.rate IS 'converted / responded for the rule response, converted / received for the rule receipt; null if that is 0';
GRANT SELECT ON analytics.goal_times TO bellwether_analyst;
