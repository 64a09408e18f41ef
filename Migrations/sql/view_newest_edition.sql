-- Why: only the newest edition of each set of an app is registered.
CREATE OR REPLACE VIEW registry.newest_edition AS
SELECT DISTINCT ON (app, category_set) app, category_set, number, registered_at
FROM registry.edition
ORDER BY app, category_set, number DESC;

GRANT SELECT ON registry.newest_edition TO bellwether_ingest;
