-- The days of an app on which messages of the FCM export count, with their bounds in its time zone; found as `send_days` are.
CREATE OR REPLACE VIEW sends.fcm_days AS
SELECT
    app.id AS app, d.day, d.day::timestamp AT TIME ZONE app.time_zone AS since,
    (d.day + 1)::timestamp AT TIME ZONE app.time_zone AS until
FROM log.app AS app
CROSS JOIN LATERAL (
    WITH RECURSIVE found (day) AS (
        SELECT (min(m.first_at) AT TIME ZONE app.time_zone)::date FROM sends.fcm_message AS m WHERE m.app = app.id
        UNION ALL
        SELECT ((
            SELECT min(m.first_at) FROM sends.fcm_message AS m
            WHERE m.app = app.id AND m.first_at >= (found.day + 1)::timestamp AT TIME ZONE app.time_zone
        ) AT TIME ZONE app.time_zone)::date
        FROM found WHERE found.day IS NOT NULL
    )
    SELECT found.day FROM found WHERE found.day IS NOT NULL
) AS d;
