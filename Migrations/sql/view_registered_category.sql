-- Why: a category that two sets have is registered as the newer import says.
CREATE OR REPLACE VIEW registry.registered_category AS
SELECT DISTINCT ON (c.app, c.category) c.*, e.category_set
FROM registry.newest_edition AS e
JOIN registry.category AS c ON c.app = e.app AND c.number = e.number
ORDER BY c.app, c.category, c.number DESC;

GRANT SELECT ON registry.registered_category TO bellwether_ingest;
