-- Why: what an experiment counted on each day, so that one sees how its answer came about.
CREATE OR REPLACE VIEW analytics.experiment_days AS
SELECT
    app, experiment, arm, goal, day, CASE WHEN is_whole THEN installs END AS installs,
    CASE WHEN is_whole THEN reached END AS reached, CASE WHEN is_whole THEN goals END AS goals,
    CASE WHEN is_whole THEN turned_off END AS turned_off, CASE WHEN is_whole THEN exposed END AS exposed
FROM (
    SELECT
        app, experiment, arm, goal, day, bool_and(bool_and(is_whole)) OVER arm_and_goal AS is_whole,
        (sum(sum(installs)) OVER arm_and_goal)::bigint AS installs, coalesce(sum(reached), 0)::bigint AS reached,
        coalesce(sum(goals), 0)::bigint AS goals, coalesce(sum(turned_off), 0)::bigint AS turned_off,
        coalesce(sum(exposed), 0)::bigint AS exposed
    FROM counted.experiment_count
    GROUP BY app, experiment, arm, goal, day
    WINDOW arm_and_goal AS (PARTITION BY app, experiment, arm, goal)
) AS total
WHERE day IS NOT NULL;

COMMENT ON VIEW analytics.experiment_days IS 'What experiments counted, by day: added up to a day, it is what experiments would have said at the end of that day. It has the day of the start, and those on which anything happened in either arm. It is computed from the log when it is read: name the app and the experiment';
COMMENT ON COLUMN analytics.experiment_days.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.experiment_days.experiment IS 'Name of the experiment';
COMMENT ON COLUMN analytics.experiment_days.arm IS 'control or treated';
COMMENT ON COLUMN analytics.experiment_days.goal IS 'The goal, as in experiments';
COMMENT ON COLUMN analytics.experiment_days.day IS 'Day in the time zone of the app';
COMMENT ON COLUMN analytics.experiment_days.installs IS 'Installs that count in this arm: the same on each day. Null, as the other counts are, if retention has dropped events that decide';
COMMENT ON COLUMN analytics.experiment_days.reached IS 'Installs that reached the goal for the first time since the start';
COMMENT ON COLUMN analytics.experiment_days.goals IS 'How often the goal was reached';
COMMENT ON COLUMN analytics.experiment_days.turned_off IS 'Installs that turned notifications off for the first time since the start';
COMMENT ON COLUMN analytics.experiment_days.exposed IS 'Installs with their first receipt of one of the campaigns since the start';

GRANT SELECT ON analytics.experiment_days TO bellwether_analyst;
