-- Why: what each kept report said of each category, so that a day is compared with others as they were told at its age.
CREATE OR REPLACE VIEW analytics.report_categories AS
SELECT
    kept.app, kept.day, kept.position, kept.made_at, kept.is_final AS final, told.category, told.delivered, told.received,
    told.responded, told.received_responded, told.received_engaged
FROM report.kept
CROSS JOIN LATERAL jsonb_to_recordset(kept.as_json::jsonb -> 'categories') AS told (
    category text, delivered bigint, received bigint, responded bigint, received_responded bigint, received_engaged bigint);

COMMENT ON VIEW analytics.report_categories IS 'What each kept report said of each category. category_funnel has the current numbers';
COMMENT ON COLUMN analytics.report_categories.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.report_categories.day IS 'Day of the report, in the time zone of the app';
COMMENT ON COLUMN analytics.report_categories.position IS 'Position in the log at which it was made';
COMMENT ON COLUMN analytics.report_categories.made_at IS 'When it was made';
COMMENT ON COLUMN analytics.report_categories.final IS 'Whether the day was over when the report was made';
COMMENT ON COLUMN analytics.report_categories.category IS 'Category; '''' for deliveries without one';
COMMENT ON COLUMN analytics.report_categories.delivered IS 'Deliveries of the day that were known at this position';
COMMENT ON COLUMN analytics.report_categories.received IS 'How many of these have a receipt';
COMMENT ON COLUMN analytics.report_categories.responded IS 'How many of these were opened, or had a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.report_categories.received_responded IS 'How many of these responded and have a receipt';
COMMENT ON COLUMN analytics.report_categories.received_engaged IS 'received_responded without those whose only response was a button that closed or declined, as registered then';

GRANT SELECT ON analytics.report_categories TO bellwether_analyst;
