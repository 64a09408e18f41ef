-- Why: what an experiment has found so far. A part that one cell cannot count any more makes the whole unknown.
CREATE OR REPLACE VIEW analytics.experiments AS
SELECT
    app, experiment, arm, goal,
    CASE WHEN is_whole THEN installs END AS installs,
    CASE WHEN is_whole THEN reached END AS reached,
    CASE WHEN is_whole THEN goals END AS goals,
    CASE WHEN is_whole AND least_currency IS NOT DISTINCT FROM greatest_currency THEN value END AS value,
    CASE WHEN is_whole THEN turned_off END AS turned_off,
    CASE WHEN is_whole THEN exposed END AS exposed,
    CASE WHEN is_whole AND least_currency = greatest_currency THEN least_currency END AS currency
FROM (
    SELECT
        app, experiment, arm, goal, bool_and(is_whole) AS is_whole, coalesce(sum(installs), 0)::bigint AS installs,
        coalesce(sum(reached), 0)::bigint AS reached, coalesce(sum(goals), 0)::bigint AS goals,
        coalesce(sum(value), 0) AS value, coalesce(sum(turned_off), 0)::bigint AS turned_off,
        coalesce(sum(exposed), 0)::bigint AS exposed,
        min(min(least_currency)) OVER both_arms AS least_currency,
        max(max(greatest_currency)) OVER both_arms AS greatest_currency
    FROM counted.experiment_count
    GROUP BY app, experiment, arm, goal
    WINDOW both_arms AS (PARTITION BY app, experiment, goal)
) AS total;

COMMENT ON VIEW analytics.experiments IS 'What experiments have found so far, a row for each arm and goal. Who counts: installs with an event in the 28 days before the start, so first seen before it, each in its arm whatever happened to it later (intention to treat). The counts are null if retention has dropped events that decide. It is computed from the log when it is read: name the app and the experiment. Compare reached / installs of the arms; the report and the web pages show that difference with an interval that holds however often one looks';
COMMENT ON COLUMN analytics.experiments.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.experiments.experiment IS 'Name of the experiment; experiment_versions says what it is';
COMMENT ON COLUMN analytics.experiments.arm IS 'control (installs that are left without its pushes) or treated';
COMMENT ON COLUMN analytics.experiments.goal IS 'The goal; '''' stands for any goal, if the experiment names none';
COMMENT ON COLUMN analytics.experiments.installs IS 'Installs that count in this arm; the same for each goal';
COMMENT ON COLUMN analytics.experiments.reached IS 'Those of them that reached the goal from the start on, until the end, each once';
COMMENT ON COLUMN analytics.experiments.goals IS 'How often they reached it. One install can raise it at will: judge by reached';
COMMENT ON COLUMN analytics.experiments.value IS 'What these were worth; null if they are in several currencies';
COMMENT ON COLUMN analytics.experiments.turned_off IS 'Those of the installs that turned notifications off from the start on, until the end; the same for each goal';
COMMENT ON COLUMN analytics.experiments.exposed IS 'Those of the installs with a receipt of one of its campaigns from the start on, until the end; the same for each goal. In the control arm this is leakage. 0 if the experiment names no campaign: then nobody can tell';
COMMENT ON COLUMN analytics.experiments.currency IS 'The one currency of the values of both arms; '''' if none was said; null if there are several, or no goals';

GRANT SELECT ON analytics.experiments TO bellwether_analyst;
