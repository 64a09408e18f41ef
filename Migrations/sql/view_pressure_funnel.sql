-- Why: whether one more push a day still gets an answer. Eager people get more pushes, so a plain comparison of busy and
-- quiet days says that more is better. This view also compares each delivery with the other deliveries of the same
-- install. Both depend on other deliveries, and late events change them, so the view is computed when it is read.
CREATE OR REPLACE VIEW analytics.pressure_funnel AS
SELECT
    app.slug AS app, days.day, f.category, f.pressure, f.received, f.received_responded, f.received_engaged,
    f.turned_off, f.compared, f.compared_responded, f.expected_responded,
    round(f.received_responded::numeric / f.received, 4) AS response_rate,
    round(f.received_engaged::numeric / f.received, 4) AS engagement_rate,
    round(f.compared_responded / nullif(f.expected_responded, 0), 4) AS response_ratio
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, day::timestamp AT TIME ZONE app.time_zone AS begins, ((day - date '1970-01-01')::bigint & 4194303) << 40 AS first_key
    FROM projection.category_funnel
    WHERE category_funnel.app = app.id
        AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'category_funnel'))
    GROUP BY day
    HAVING sum(delivered) > 0
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
        SELECT i.install_id, array_agg(i.turned_off_at) AS times
        FROM projection.install_day AS i
        WHERE i.app = app.id AND i.day BETWEEN days.day AND last.until AND i.turned_off_at IS NOT NULL
            AND i.key BETWEEN days.first_key AND days.first_key + (last.until - days.day + 1) * 1099511627776 - 1
            AND i.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
        GROUP BY i.install_id
    ) AS off ON off.install_id = r.install_id
    WHERE r.day = days.day
    GROUP BY r.category, least(r.pressure, 10)
) AS f;

COMMENT ON VIEW analytics.pressure_funnel IS 'Notifications with a receipt, by how many the install had received in the 24 hours before: whether one more still gets an answer. Eager people get more notifications, so response_rate may rise with pressure though each one more costs answers. response_ratio compares within the same people: below 1, they answer less than they usually do. The view is computed from the deliveries of nine days when it is read: give the app and the days. It has no days whose deliveries retention has dropped, and the week after such days is compared with fewer. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.pressure_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.pressure_funnel.pressure IS 'Notifications that the install received in the 24 hours up to and with this one, of all categories, silent ones aside: 1 to 9, and 10 for ten or more. Those that came at the same moment count each other. A receipt over a week after the first event of its delivery may be left out';
COMMENT ON COLUMN analytics.pressure_funnel.turned_off IS 'Installs that turned notifications off within 24 hours after such a notification, and before they received another. The first time of a day counts';
COMMENT ON COLUMN analytics.pressure_funnel.compared IS 'Those whose install received others in the seven days up to and with this day. They tell what is usual for the install';
COMMENT ON COLUMN analytics.pressure_funnel.compared_responded IS 'How many of the compared were responded to';
COMMENT ON COLUMN analytics.pressure_funnel.expected_responded IS 'How many would have been, had each install answered as often as it answered its others of those seven days: the sum of these rates, each rounded to six places';
COMMENT ON COLUMN analytics.pressure_funnel.response_ratio IS 'compared_responded / expected_responded: the effect of pressure within the same people. 1 if there is none, below 1 if more notifications get fewer answers. To join days or categories, add both up first';

GRANT SELECT ON analytics.pressure_funnel TO bellwether_analyst;
