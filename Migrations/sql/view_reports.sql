-- Why: which reports are kept, and the numbers that each gave for its day.
CREATE OR REPLACE VIEW analytics.reports AS
SELECT
    kept.app, kept.day, kept.position, kept.made_at, kept.is_final AS final, told.delivered, told.received,
    told.responded, told.received_responded, round(told.received_responded::numeric / nullif(told.received, 0), 4) AS response_rate,
    kept.received_engaged, round(kept.received_engaged::numeric / nullif(told.received, 0), 4) AS engagement_rate, kept.closing_buttons
FROM report.kept
JOIN report.told ON told.report = kept.id AND told.day = kept.day;

COMMENT ON VIEW analytics.reports IS 'The reports that are kept, with the numbers that each gave for its day when it was made. A day can have several reports; the funnels have its current numbers. bellwether report --as-of POSITION prints a report as it was';
COMMENT ON COLUMN analytics.reports.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.reports.day IS 'Day of the report, in the time zone of the app';
COMMENT ON COLUMN analytics.reports.position IS 'Position in the log at which it was made';
COMMENT ON COLUMN analytics.reports.made_at IS 'When it was made';
COMMENT ON COLUMN analytics.reports.final IS 'Whether the day was over when the report was made. Later numbers are compared with the first final report on a day';
COMMENT ON COLUMN analytics.reports.delivered IS 'Deliveries of the day that were known at this position';
COMMENT ON COLUMN analytics.reports.received IS 'How many of these have a receipt';
COMMENT ON COLUMN analytics.reports.responded IS 'How many of these were opened, or had a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.reports.received_responded IS 'How many of these responded and have a receipt';
COMMENT ON COLUMN analytics.reports.response_rate IS 'received_responded / received, as reported; null if received is 0';
COMMENT ON COLUMN analytics.reports.received_engaged IS 'received_responded without those whose only response was a button that closed or declined, as registered then';
COMMENT ON COLUMN analytics.reports.engagement_rate IS 'received_engaged / received, as reported; null if received is 0';
COMMENT ON COLUMN analytics.reports.closing_buttons IS 'Hash of the buttons that closed or declined, as registered then; null if none did. Compare engagement only between reports with the same value';

GRANT SELECT ON analytics.reports TO bellwether_analyst;
