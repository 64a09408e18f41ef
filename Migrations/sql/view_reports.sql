-- Why: which reports are kept, and what each told of its day.
CREATE OR REPLACE VIEW analytics.reports AS
SELECT
    kept.app, kept.day, kept.position, kept.made_at, kept.is_final AS final, told.delivered, told.received,
    told.responded, told.received_responded, told.received_responded::numeric / nullif(told.received, 0) AS response_rate
FROM report.kept
JOIN report.told ON told.report = kept.id AND told.day = kept.day;

COMMENT ON VIEW analytics.reports IS 'The reports that are kept, and what each told of its day when it was made. A day can have several; what is known of it today stands in the funnels. bellwether report --as-of POSITION prints one as it was';
COMMENT ON COLUMN analytics.reports.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.reports.day IS 'Day that the report is of, in the time zone of the app';
COMMENT ON COLUMN analytics.reports.position IS 'Position in the log at which it was made';
COMMENT ON COLUMN analytics.reports.made_at IS 'When it was made';
COMMENT ON COLUMN analytics.reports.final IS 'Whether the day was over when it was made. The first final report of a day is the one that later days are held against';
COMMENT ON COLUMN analytics.reports.delivered IS 'Deliveries of the day that were known at that position';
COMMENT ON COLUMN analytics.reports.received IS 'Of these, with a receipt on file';
COMMENT ON COLUMN analytics.reports.responded IS 'Of these, opened, or with a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.reports.received_responded IS 'Of these, responded and with a receipt';
COMMENT ON COLUMN analytics.reports.response_rate IS 'received_responded / received, as told; null where received is 0';

GRANT SELECT ON analytics.reports TO bellwether_analyst;
