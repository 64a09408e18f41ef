-- Why: the categories that are registered now. If two sets have the same category, the newer import counts.
CREATE OR REPLACE VIEW registry.registered_category AS
SELECT DISTINCT ON (c.app, c.category) c.*, e.category_set
FROM registry.newest_edition AS e
JOIN registry.category AS c ON c.app = e.app AND c.number = e.number
ORDER BY c.app, c.category, c.number DESC;

GRANT SELECT ON registry.registered_category TO bellwether_ingest;
