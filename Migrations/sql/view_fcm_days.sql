-- The days of an app on which messages of the FCM export count, with their bounds in the app's time zone. They are
-- found in the same way as `send_days`. When clocks go back, a night may have two midnights: the span of a day then
-- goes from its first midnight to the second midnight of the next day. So readers of a span must also filter its rows
-- by day.
CREATE OR REPLACE VIEW sends.fcm_days AS
SELECT app.id AS app, d.day, d.since, (d.day + 1)::timestamp AT TIME ZONE app.time_zone AS until, app.time_zone
FROM log.app AS app
CROSS JOIN LATERAL (
    WITH RECURSIVE found (day, since, ends) AS (
        SELECT NULL::date, NULL::timestamptz, '-infinity'::timestamptz
        UNION ALL
        SELECT
            next.day, next.since,
            CASE
                WHEN repeated.span > interval '0' AND ((midnight.at - repeated.span) AT TIME ZONE app.time_zone)::date > next.day
                THEN midnight.at - repeated.span ELSE midnight.at
            END
        FROM found
        CROSS JOIN LATERAL (
            SELECT min(m.first_at) AS since, (min(m.first_at) AT TIME ZONE app.time_zone)::date AS day
            FROM sends.fcm_message AS m
            WHERE m.app = app.id AND m.first_at >= found.ends
                AND coalesce((m.first_at AT TIME ZONE app.time_zone)::date > found.day, true)
        ) AS next
        CROSS JOIN LATERAL (SELECT (next.day + 1)::timestamp AT TIME ZONE app.time_zone) AS midnight (at)
        -- How far the clocks went back in the three hours before that midnight.
        CROSS JOIN LATERAL (
            SELECT (midnight.at - interval '3 hours') AT TIME ZONE app.time_zone - ((next.day + 1)::timestamp - interval '3 hours')
        ) AS repeated (span)
        WHERE next.day IS NOT NULL
    )
    SELECT found.day, found.since FROM found WHERE found.day IS NOT NULL
) AS d;
