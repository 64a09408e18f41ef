-- Why: of each experiment only the newest version counts.
CREATE OR REPLACE VIEW registry.newest_experiment AS
SELECT DISTINCT ON (app, experiment) *
FROM registry.experiment_version
ORDER BY app, experiment, version DESC;

GRANT SELECT ON registry.newest_experiment TO bellwether_ingest;
