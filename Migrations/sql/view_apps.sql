-- Why: readers of the funnels must know in which time zone the days are, and whether all of them are in it yet.
CREATE OR REPLACE VIEW analytics.apps AS
SELECT
    app.slug AS app, app.time_zone,
    coalesce(zone.time_zone <> app.time_zone OR zone.made <> zone.changes, false) AS days_moving,
    app.created_at
FROM log.app AS app
LEFT JOIN projection.zone AS zone ON zone.app = app.id;

COMMENT ON VIEW analytics.apps IS 'The apps, with the time zones in which their days are counted';
COMMENT ON COLUMN analytics.apps.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.apps.time_zone IS 'Reporting time zone: days in all funnels of the app run from midnight to midnight in this zone';
COMMENT ON COLUMN analytics.apps.days_moving IS 'True while deliveries are being moved to the days of a new time zone: some still count on days of the old one';
COMMENT ON COLUMN analytics.apps.created_at IS 'When the app was created';

GRANT SELECT ON analytics.apps TO bellwether_analyst;
