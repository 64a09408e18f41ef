-- The days of an app on which something was sent, with their bounds in the app's time zone. They are found by jumping
-- from one to the next along the index. So a view that is read day by day reads no rows of other days, and an absurd
-- time costs nothing. When clocks go back, a night may have two midnights: the span of a day then goes from its first
-- midnight to the second midnight of the next day. So readers of a span must also filter its rows by day.
CREATE OR REPLACE VIEW sends.send_days AS
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
            SELECT min(s.sent_at) AS since, (min(s.sent_at) AT TIME ZONE app.time_zone)::date AS day
            FROM sends.send AS s
            WHERE s.app = app.id AND s.sent_at >= found.ends
                AND coalesce((s.sent_at AT TIME ZONE app.time_zone)::date > found.day, true)
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
