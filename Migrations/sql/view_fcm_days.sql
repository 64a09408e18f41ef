-- The days of an app on which messages of the FCM export count, with their bounds in its time zone; found as `send_days` are.
-- A night on which clocks go back may have its midnight twice: a day is looked for from the first one on, and may last until
-- the second one of the next; whoever reads its rows chooses them by the day.
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
        -- How far the clocks went back in the three hours before it.
        CROSS JOIN LATERAL (
            SELECT (midnight.at - interval '3 hours') AT TIME ZONE app.time_zone - ((next.day + 1)::timestamp - interval '3 hours')
        ) AS repeated (span)
        WHERE next.day IS NOT NULL
    )
    SELECT found.day, found.since FROM found WHERE found.day IS NOT NULL
) AS d;
