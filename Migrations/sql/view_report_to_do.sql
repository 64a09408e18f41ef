-- Why: pages that show many days say what their reports ask to do, without reading a report.
CREATE OR REPLACE VIEW analytics.report_to_do AS
SELECT
    kept.app, kept.day, kept.position, kept.made_at, kept.is_final AS final, told.place, told.what, told.ask, told.section,
    told.subject, told.name, told.deliveries
FROM report.kept
CROSS JOIN LATERAL jsonb_to_recordset(kept.as_json::jsonb -> 'to_do') AS told (
    place integer, what text, ask text, section text, subject text, name text, deliveries bigint);

COMMENT ON VIEW analytics.report_to_do IS 'What each kept report asked to do';
COMMENT ON COLUMN analytics.report_to_do.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.report_to_do.day IS 'Day of the report, in the time zone of the app';
COMMENT ON COLUMN analytics.report_to_do.position IS 'Position in the log at which it was made';
COMMENT ON COLUMN analytics.report_to_do.made_at IS 'When it was made';
COMMENT ON COLUMN analytics.report_to_do.final IS 'Whether the day was over when the report was made';
COMMENT ON COLUMN analytics.report_to_do.place IS 'Its place in the report, from 1: the most urgent first';
COMMENT ON COLUMN analytics.report_to_do.what IS 'What to do and why';
COMMENT ON COLUMN analytics.report_to_do.ask IS 'What to do alone: the same words each day that asks for it';
COMMENT ON COLUMN analytics.report_to_do.section IS 'The section of the report that tells more';
COMMENT ON COLUMN analytics.report_to_do.subject IS 'What it is about: everything, category, campaign or story';
COMMENT ON COLUMN analytics.report_to_do.name IS 'The category, the campaign, or the story as the report names it; '''' for everything';
COMMENT ON COLUMN analytics.report_to_do.deliveries IS 'The deliveries that it concerns';

GRANT SELECT ON analytics.report_to_do TO bellwether_analyst;
