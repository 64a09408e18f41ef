-- Why: whoever reads the numbers of a kept report may also read the report.
CREATE OR REPLACE VIEW analytics.report_pages AS
SELECT kept.app, kept.day, kept.position, kept.made_at, kept.is_final AS final, kept.as_html AS html
FROM report.kept;

COMMENT ON VIEW analytics.report_pages IS 'The reports that are kept, each as the page that was made then. reports has their numbers';
COMMENT ON COLUMN analytics.report_pages.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.report_pages.day IS 'Day of the report, in the time zone of the app';
COMMENT ON COLUMN analytics.report_pages.position IS 'Position in the log at which it was made';
COMMENT ON COLUMN analytics.report_pages.made_at IS 'When it was made';
COMMENT ON COLUMN analytics.report_pages.final IS 'Whether the day was over when the report was made';
COMMENT ON COLUMN analytics.report_pages.html IS 'The report as one HTML document';

GRANT SELECT ON analytics.report_pages TO bellwether_analyst;
