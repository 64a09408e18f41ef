-- Why: closing or declining by a button is an answer, but not engagement. These are the buttons that do so as
-- registration has it now, by the ids of their words, as funnels and deliveries have them.
CREATE OR REPLACE VIEW registry.closing_button AS
SELECT b.app, category.id AS category, action_id.id AS action_id
FROM registry.registered_button AS b
-- 1 and 15 are the codes of categories and buttons among the kinds of words.
JOIN log.word AS category ON category.app = b.app AND category.kind = 1 AND category.value = b.category
JOIN log.word AS action_id ON action_id.app = b.app AND action_id.kind = 15 AND action_id.value = b.action_id
WHERE b.answer IN ('close', 'decline');
