-- Why: a day is a day of some time zone; who reads days must know which, and whether all of them are in it yet.
CREATE OR REPLACE VIEW analytics.apps AS
SELECT
    app.slug AS app, app.time_zone,
    coalesce(zone.time_zone <> app.time_zone OR zone.made <> zone.changes, false) AS days_moving,
    app.created_at
FROM log.app AS app
LEFT JOIN projection.zone AS zone ON zone.app = app.id;

COMMENT ON VIEW analytics.apps IS 'The apps, and the time zones in which their days are counted';
COMMENT ON COLUMN analytics.apps.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.apps.time_zone IS 'Reporting time zone, whose midnights bound the days of all funnels of the app';
COMMENT ON COLUMN analytics.apps.days_moving IS 'Whether the time zone was changed and deliveries are still being moved to its days: until then some stand on days of the old one';
COMMENT ON COLUMN analytics.apps.created_at IS 'When the app was made';

GRANT SELECT ON analytics.apps TO bellwether_analyst;
