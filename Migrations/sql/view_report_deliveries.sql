-- Why: whether each report reached each place that was to hear it, and if not, why.
CREATE OR REPLACE VIEW analytics.report_deliveries AS
SELECT
    app, period, day, place, id AS delivery_id, state, attempts, written_at, tried_at, ended_at, last_error
FROM report.letter;

COMMENT ON VIEW analytics.report_deliveries IS 'Each report that was to be delivered to a place (bellwether report --deliver), and what became of it. Neither the address of a place nor what opens it is in the database';
COMMENT ON COLUMN analytics.report_deliveries.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.report_deliveries.period IS 'Day or week of the report: 2026-11-20 or 2026-W47, in the time zone of the app';
COMMENT ON COLUMN analytics.report_deliveries.day IS 'The day, or the last day of the week';
COMMENT ON COLUMN analytics.report_deliveries.place IS 'Name of the place in the file that was given with --deliver';
COMMENT ON COLUMN analytics.report_deliveries.delivery_id IS 'The id that the receiver sees. It stays the same when the report is sent again';
COMMENT ON COLUMN analytics.report_deliveries.state IS 'waiting: the next run sends it; sent: the place has taken it; nothing_to_tell: the report has none of the news that the place wants; given_up: it was too old or had been tried too often';
COMMENT ON COLUMN analytics.report_deliveries.attempts IS 'How often it was sent, or an attempt was made';
COMMENT ON COLUMN analytics.report_deliveries.written_at IS 'When the report was made for this place';
COMMENT ON COLUMN analytics.report_deliveries.tried_at IS 'When the last attempt began; null if there was none';
COMMENT ON COLUMN analytics.report_deliveries.ended_at IS 'When it was sent, given up or found to have nothing to tell; null while it waits';
COMMENT ON COLUMN analytics.report_deliveries.last_error IS 'Why the last attempt failed; null if none did';

GRANT SELECT ON analytics.report_deliveries TO bellwether_analyst;
