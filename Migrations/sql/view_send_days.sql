-- The days of an app on which something was sent, with their bounds in its time zone: found by leaping from one to the next
-- along the index, so that a view which goes day by day reads nothing of the others, and one absurd time costs nothing.
CREATE OR REPLACE VIEW sends.send_days AS
SELECT
    app.id AS app, d.day, d.day::timestamp AT TIME ZONE app.time_zone AS since,
    (d.day + 1)::timestamp AT TIME ZONE app.time_zone AS until
FROM log.app AS app
CROSS JOIN LATERAL (
    WITH RECURSIVE found (day) AS (
        SELECT (min(s.sent_at) AT TIME ZONE app.time_zone)::date FROM sends.send AS s WHERE s.app = app.id
        UNION ALL
        SELECT ((
            SELECT min(s.sent_at) FROM sends.send AS s
            WHERE s.app = app.id AND s.sent_at >= (found.day + 1)::timestamp AT TIME ZONE app.time_zone
        ) AT TIME ZONE app.time_zone)::date
        FROM found WHERE found.day IS NOT NULL
    )
    SELECT found.day FROM found WHERE found.day IS NOT NULL
) AS d;
