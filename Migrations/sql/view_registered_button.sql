-- Why: the buttons of the categories that are registered now.
CREATE OR REPLACE VIEW registry.registered_button AS
SELECT b.*, c.content_extension, c.category_set
FROM registry.registered_category AS c
JOIN registry.button AS b ON b.app = c.app AND b.number = c.number AND b.category = c.category;

GRANT SELECT ON registry.registered_button TO bellwether_ingest;
