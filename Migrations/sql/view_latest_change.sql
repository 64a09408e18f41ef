-- Why: whether each category or button is registered, and since when it is or no longer is.
CREATE OR REPLACE VIEW registry.latest_change AS
SELECT DISTINCT ON (c.app, c.category, c.action_id)
    c.app, c.category, c.action_id, c.is_registered, c.number, e.registered_at AS changed_at
FROM registry.change AS c
JOIN registry.edition AS e ON e.app = c.app AND e.number = c.number
ORDER BY c.app, c.category, c.action_id, c.number DESC;

GRANT SELECT ON registry.latest_change TO bellwether_ingest;
