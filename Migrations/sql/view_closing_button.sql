-- Why: closing or declining by a button is an answer, but not engagement. These are the buttons that do so as
-- registration has it now, by the ids of their words, as funnels and deliveries have them. A button that was merged
-- into another one, or whose category was, speaks for the other, unless that is registered itself.
CREATE OR REPLACE VIEW registry.closing_button AS
SELECT b.app, category.id AS category, action_id.id AS action_id
FROM (
    SELECT DISTINCT ON (b.app, coalesce(c.value, b.category), coalesce(a.value, b.action_id))
        b.app, coalesce(c.value, b.category) AS category, coalesce(a.value, b.action_id) AS action_id, b.answer
    FROM registry.registered_button AS b
    -- 1 and 15 are the codes of categories and buttons among the kinds of words.
    LEFT JOIN log.merged_word AS c ON c.app = b.app AND c.kind = 1 AND c.sent = b.category
    LEFT JOIN log.merged_word AS a ON a.app = b.app AND a.kind = 15 AND a.sent = b.action_id
    ORDER BY
        b.app, coalesce(c.value, b.category), coalesce(a.value, b.action_id), c.value IS NOT NULL, a.value IS NOT NULL,
        b.number DESC, b.category, b.action_id
) AS b
JOIN log.word AS category ON category.app = b.app AND category.kind = 1 AND category.value = b.category
JOIN log.word AS action_id ON action_id.app = b.app AND action_id.kind = 15 AND action_id.value = b.action_id
WHERE b.answer IN ('close', 'decline');
