-- Why: a registered button counts for the taps that are shown under its name and that of its category. If one of these
-- was merged into another one, these are the other's, unless such a button is registered itself.
CREATE OR REPLACE VIEW registry.shown_button AS
SELECT DISTINCT ON (k.app, coalesce(c.value, k.category), coalesce(a.value, k.action_id))
    k.app, coalesce(c.value, k.category) AS category, coalesce(a.value, k.action_id) AS action_id, k.is_registered,
    k.position, k.title, k.titles, k.answer, k.content_extension, k.registered_at, k.retired_at, k.was_added
FROM registry.known_button AS k
-- 1 and 15 are the codes of categories and buttons among the kinds of words.
LEFT JOIN log.merged_word AS c ON c.app = k.app AND c.kind = 1 AND c.sent = k.category
LEFT JOIN log.merged_word AS a ON a.app = k.app AND a.kind = 15 AND a.sent = k.action_id
ORDER BY
    k.app, coalesce(c.value, k.category), coalesce(a.value, k.action_id), k.is_registered DESC, c.value IS NOT NULL,
    a.value IS NOT NULL, k.registered_at DESC, k.category, k.action_id;
