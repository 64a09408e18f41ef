-- Why: `words merge` changes what events count as. Sends, experiments and registered categories name words as text, and
-- mean what these count as now. Few words are merged; NULL and '' are no words.
CREATE OR REPLACE VIEW log.merged_word AS
SELECT w.app, w.kind, w.sent, w.value FROM log.word AS w WHERE w.counts_as IS NOT NULL AND w.sent IS NOT NULL;
