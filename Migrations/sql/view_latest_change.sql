-- Why: whether a category or button was ever registered, and from when on it is, or is no longer.
CREATE OR REPLACE VIEW registry.latest_change AS
SELECT DISTINCT ON (c.app, c.category, c.action_id)
    c.app, c.category, c.action_id, c.is_registered, c.number, e.registered_at AS changed_at
FROM registry.change AS c
JOIN registry.edition AS e ON e.app = c.app AND e.number = c.number
ORDER BY c.app, c.category, c.action_id, c.number DESC;

GRANT SELECT ON registry.latest_change TO bellwether_ingest;
