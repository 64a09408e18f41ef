-- Why: the experiments of each app as they are and as they were, with what senders need to tell who is in which arm.
CREATE OR REPLACE VIEW analytics.experiment_versions AS
SELECT
    app.slug AS app, e.experiment, e.version, e.version = max(e.version) OVER newest AS is_newest, e.control, e.salt,
    e.starts_at, e.ends_at, e.campaigns, e.goals, e.registered_at
FROM log.app AS app
JOIN registry.experiment_version AS e ON e.app = app.id
WINDOW newest AS (PARTITION BY e.app, e.experiment);

COMMENT ON VIEW analytics.experiment_versions IS 'The experiments of each app, from bellwether experiments create and end and from PUT /v1/experiments. Each change makes a version, and none is overwritten. What they found is in experiments';
COMMENT ON COLUMN analytics.experiment_versions.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.experiment_versions.experiment IS 'Name of the experiment';
COMMENT ON COLUMN analytics.experiment_versions.version IS 'Number of the version, counted for each experiment from 1';
COMMENT ON COLUMN analytics.experiment_versions.is_newest IS 'Whether it is the version that counts';
COMMENT ON COLUMN analytics.experiment_versions.control IS 'Percent of the installs that are in the control arm';
COMMENT ON COLUMN analytics.experiment_versions.salt IS 'An install is in the control arm if the first eight bytes of the SHA-256 of this salt, a colon and the install id in lower case, read as a number with the highest byte first, are below control/100 * 2^64. It never changes once the experiment has started';
COMMENT ON COLUMN analytics.experiment_versions.starts_at IS 'When the senders begin to leave the control arm without its pushes. It never changes once it has passed';
COMMENT ON COLUMN analytics.experiment_versions.ends_at IS 'When they stop, so that nothing later counts; null if nobody has said. Equal to starts_at if the experiment was called off before it started';
COMMENT ON COLUMN analytics.experiment_versions.campaigns IS 'The campaigns that the control arm is left without. If there are none, nobody can tell who of it got a push all the same';
COMMENT ON COLUMN analytics.experiment_versions.goals IS 'The goals that it is judged by; none stands for any goal';
COMMENT ON COLUMN analytics.experiment_versions.registered_at IS 'When this version was registered';

GRANT SELECT ON analytics.experiment_versions TO bellwether_analyst;
