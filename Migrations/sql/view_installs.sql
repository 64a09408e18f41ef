-- Why: one row for each install, made of the days on which it sent something. What its device says is taken from the
-- last day that says it: the day and the id, packed into one number, of which the greatest counts. So one pass over the
-- app's days is enough, without sorting them.
CREATE OR REPLACE VIEW counted.installs AS
SELECT
    app.id AS app, f.install_id, f.first_seen, f.last_seen,
    platform.value AS platform, app_version.value AS app_version, os_version.value AS os_version,
    device_model.value AS device_model, locale.value AS locale, time_zone.value AS time_zone,
    ('{authorized,provisional,ephemeral,denied,not_determined}'::text[])[f."authorization" & 7] AS "authorization",
    CASE WHEN f.changed & 7 = f."authorization" & 7
        THEN timestamptz 'epoch' + (f.changed >> 3) * interval '1 microsecond' END AS authorization_since
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        d.install_id, min(d.first_at) AS first_seen, max(d.last_at) AS last_seen,
        max(n.day << 32 | d.platform) & 4294967295 AS platform,
        max(n.day << 32 | d.app_version) & 4294967295 AS app_version,
        max(n.day << 32 | d.os_version) & 4294967295 AS os_version,
        max(n.day << 32 | d.device_model) & 4294967295 AS device_model,
        max(n.day << 32 | d.locale) & 4294967295 AS locale,
        max(n.day << 32 | d.time_zone) & 4294967295 AS time_zone,
        max(n.day << 3 | d."authorization") AS "authorization",
        max((extract(epoch FROM d.changed_at) * 1000000)::bigint << 3 | coalesce(d.changed_to, 0)) AS changed
    FROM projection.opened_install_day AS d
    CROSS JOIN LATERAL (SELECT (d.day - date '2000-01-01')::bigint AS day) AS n
    WHERE d.app = app.id
        AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
    -- The lower bits of the key are a hash of the install with a secret: ids that clients choose may all have one hash
    -- in PostgreSQL.
    GROUP BY d.install_id, d.key & 1099511627775
) AS f
LEFT JOIN log.word AS platform ON platform.id = f.platform
LEFT JOIN log.word AS app_version ON app_version.id = f.app_version
LEFT JOIN log.word AS os_version ON os_version.id = f.os_version
LEFT JOIN log.word AS device_model ON device_model.id = f.device_model
LEFT JOIN log.word AS locale ON locale.id = f.locale
LEFT JOIN log.word AS time_zone ON time_zone.id = f.time_zone;

SELECT cluster.offer('counted.installs');

-- The first day of an app that retention has left. On a hub it is that of the cell which has the earliest.
CREATE OR REPLACE VIEW counted.first_day AS
SELECT app.id AS app, began.day
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT min(i.day) AS day FROM projection.install_days AS i
    WHERE i.app = app.id AND i.active > 0
        AND i.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'install_days')
) AS began;

SELECT cluster.offer('counted.first_day');

CREATE OR REPLACE VIEW analytics.installs AS
SELECT
    app.slug AS app, i.install_id, i.first_seen, i.last_seen, i.platform, i.app_version, i.os_version, i.device_model,
    i.locale, i.time_zone, i."authorization", i.authorization_since,
    (i.first_seen AT TIME ZONE app.time_zone)::date < began.day + 7 AS may_be_older
FROM log.app AS app
CROSS JOIN LATERAL (SELECT min(f.day) AS day FROM counted.first_day AS f WHERE f.app = app.id) AS began
JOIN counted.installs AS i ON i.app = app.id;

COMMENT ON VIEW analytics.installs IS 'Installs of which the log has an event: one installation of the app on one device each, never a person. What retention has removed no longer counts here. An install that sends nothing is not here, whatever it receives';
COMMENT ON COLUMN analytics.installs.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.installs.install_id IS 'Id that the client library gave the install';
COMMENT ON COLUMN analytics.installs.first_seen IS 'Time of its first event in the log. Not always when the app was installed: see may_be_older';
COMMENT ON COLUMN analytics.installs.last_seen IS 'Time of its last event';
COMMENT ON COLUMN analytics.installs.platform IS 'Platform, such as ios, as its last event that says it says. Null if none does; the same holds for the columns that follow';
COMMENT ON COLUMN analytics.installs.app_version IS 'Version of the app';
COMMENT ON COLUMN analytics.installs.os_version IS 'Version of the operating system';
COMMENT ON COLUMN analytics.installs.device_model IS 'Model of the device';
COMMENT ON COLUMN analytics.installs.locale IS 'Locale of the device';
COMMENT ON COLUMN analytics.installs.time_zone IS 'Time zone of the device';
COMMENT ON COLUMN analytics.installs."authorization" IS 'What the user allows the app to show: authorized, provisional, ephemeral, denied or not_determined';
COMMENT ON COLUMN analytics.installs.authorization_since IS 'Time of the last permission.changed, if it changed to this authorization; else null: nobody said since when';
COMMENT ON COLUMN analytics.installs.may_be_older IS 'True if its first event is within seven days of the first day that the log has of its app: then it may have been there before. Leave these installs out where first_seen stands for the day of installation';
GRANT SELECT ON analytics.installs TO bellwether_analyst;
