-- Why: a registered category counts for the events that are shown under its name. If it was merged into another one,
-- these are the other's, unless that is registered itself.
CREATE OR REPLACE VIEW registry.shown_category AS
SELECT DISTINCT ON (c.app, coalesce(merged.value, c.category))
    c.app, coalesce(merged.value, c.category) AS category, c.content_extension, c.custom_dismiss
FROM registry.registered_category AS c
-- 1 is the code of categories among the kinds of words.
LEFT JOIN log.merged_word AS merged ON merged.app = c.app AND merged.kind = 1 AND merged.sent = c.category
ORDER BY c.app, coalesce(merged.value, c.category), merged.value IS NOT NULL, c.number DESC, c.category;
