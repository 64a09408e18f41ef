-- Why: whether one more push a day still gets an answer. Eager people get more pushes, so a plain comparison of busy and
-- quiet days says that more is better. This view also compares each delivery with the other deliveries of the same
-- install. Both depend on other deliveries, and late events change them. `first_day` and `last_day` are the days that
-- were read for it: see `projection.kept_day`.
CREATE OR REPLACE VIEW projection.pressure_funnel AS
SELECT
    app.id AS app, days.day, days.day - 7 AS first_day, greatest(days.day, last.until) AS last_day, f.category,
    f.pressure, f.received, f.received_responded, f.received_engaged, f.turned_off, f.compared, f.compared_responded,
    f.expected_responded
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, day::timestamp AT TIME ZONE app.time_zone AS begins, ((day - date '1970-01-01')::bigint & 4194303) << 40 AS first_key
    FROM projection.delivered_day AS d WHERE d.app = app.id
    GROUP BY day
) AS days
-- A receipt may come on a later day than the first event of its delivery. After the last receipt of the day's deliveries
-- comes one day more: the next receipt ends the time in which turning notifications off counts.
CROSS JOIN LATERAL (
    SELECT least(days.day + 7, max((d.received_at AT TIME ZONE app.time_zone)::date)) + 1 AS until
    FROM analytics.deliveries AS d
    WHERE d.app = app.slug AND d.day = days.day AND d.received AND NOT d.silent
) AS last
CROSS JOIN LATERAL (
    SELECT
        r.category, least(r.pressure, 10)::smallint AS pressure, count(*) AS received,
        count(*) FILTER (WHERE r.responded) AS received_responded, count(*) FILTER (WHERE r.engaged) AS received_engaged,
        count(DISTINCT r.install_id) FILTER (
            WHERE off.times IS NOT NULL AND EXISTS (
                SELECT FROM unnest(off.times) AS turned (at)
                WHERE turned.at BETWEEN r.received_at AND r.received_at + interval '24 hours'
                    AND (r.next_at IS NULL OR turned.at < r.next_at)
            )
        ) AS turned_off,
        count(*) FILTER (WHERE week.received > 1) AS compared,
        count(*) FILTER (WHERE week.received > 1 AND r.responded) AS compared_responded,
        coalesce(sum(round((week.responded - r.responded::integer)::numeric / nullif(week.received - 1, 0), 6)), 0)
            AS expected_responded
    FROM (
        SELECT
            d.day, d.category, d.install_id, d.received_at, d.responded, d.engaged,
            count(*) OVER (
                PARTITION BY d.install_id ORDER BY d.received_at RANGE BETWEEN interval '24 hours' PRECEDING AND CURRENT ROW
            ) AS pressure,
            lead(d.received_at) OVER (PARTITION BY d.install_id ORDER BY d.received_at, d.notification_key) AS next_at
        FROM analytics.deliveries AS d
        WHERE d.app = app.slug AND d.day BETWEEN days.day - 7 AND last.until AND d.received AND NOT d.silent
            AND d.received_at >= days.begins - interval '24 hours'
    ) AS r
    JOIN (
        SELECT d.install_id, count(*) AS received, count(*) FILTER (WHERE d.responded) AS responded
        FROM analytics.deliveries AS d
        WHERE d.app = app.slug AND d.day BETWEEN days.day - 6 AND days.day AND d.received AND NOT d.silent
        GROUP BY d.install_id
    ) AS week ON week.install_id = r.install_id
    LEFT JOIN (
        -- 4: denied. A day keeps the first time that it was turned off, and the last change.
        SELECT
            i.install_id,
            array_agg(i.turned_off_at) || array_agg(i.changed_at) FILTER (WHERE i.changed_to = 4) AS times
        FROM projection.opened_install_day AS i
        WHERE i.app = app.id AND i.day BETWEEN days.day AND last.until AND i.turned_off_at IS NOT NULL
            AND i.key BETWEEN days.first_key AND days.first_key + (last.until - days.day + 1) * 1099511627776 - 1
            AND i.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
        GROUP BY i.install_id
    ) AS off ON off.install_id = r.install_id
    WHERE r.day = days.day
    GROUP BY r.category, least(r.pressure, 10)
) AS f;

REVOKE INSERT, UPDATE, DELETE ON projection.pressure_funnel FROM bellwether_projector;
