-- Why: computing a day of a million deliveries takes ten seconds, so the results of such days are kept.
CREATE OR REPLACE VIEW counted.pressure_funnel AS
SELECT
    app.slug AS app, days.day, f.category, f.pressure, f.received, f.received_responded, f.received_engaged,
    f.turned_off, f.compared, f.compared_responded, f.expected_responded,
    coalesce(kept.as_of, now()) AS as_of
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day FROM projection.delivered_day AS d WHERE d.app = app.id GROUP BY day
) AS days
LEFT JOIN LATERAL (
    SELECT k.rows, k.as_of FROM projection.kept_state AS k
    WHERE k.view = 'pressure_funnel' AND k.app = app.id AND k.day = days.day AND k.as_of IS NOT NULL
    OFFSET 0
) AS kept ON true
CROSS JOIN LATERAL (
    SELECT r.*
    FROM jsonb_to_recordset(kept.rows) AS r (
        category text, pressure smallint, received bigint, received_responded bigint, received_engaged bigint,
        turned_off bigint, compared bigint, compared_responded bigint, expected_responded numeric)
    UNION ALL
    -- The last condition is on one row, so PostgreSQL looks at it first, and computes nothing of a day that is kept.
    SELECT
        c.category, c.pressure, c.received, c.received_responded, c.received_engaged, c.turned_off, c.compared,
        c.compared_responded, c.expected_responded
    FROM projection.pressure_funnel AS c
    WHERE c.app = app.id AND c.day = days.day AND kept.as_of IS NULL
) AS f;

CREATE OR REPLACE VIEW analytics.pressure_funnel AS
SELECT
    f.app, f.day, f.category, f.pressure, f.received::bigint AS received,
    f.received_responded::bigint AS received_responded, f.received_engaged::bigint AS received_engaged,
    f.turned_off::bigint AS turned_off, f.compared::bigint AS compared,
    f.compared_responded::bigint AS compared_responded, f.expected_responded,
    round(f.received_responded / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged / nullif(f.received, 0), 4) AS engagement_rate,
    round(f.compared_responded / nullif(f.expected_responded, 0), 4) AS response_ratio, f.as_of
FROM (
    SELECT
        app, day, category, pressure, sum(received) AS received, sum(received_responded) AS received_responded,
        sum(received_engaged) AS received_engaged, sum(turned_off) AS turned_off, sum(compared) AS compared,
        sum(compared_responded) AS compared_responded, sum(expected_responded) AS expected_responded,
        min(as_of) AS as_of
    FROM counted.pressure_funnel
    GROUP BY app, day, category, pressure
) AS f;

COMMENT ON VIEW analytics.pressure_funnel IS 'Notifications with a receipt, by how many the install had received in the 24 hours before: whether one more still gets an answer. Eager people get more notifications, so response_rate may rise with pressure though each one more costs answers. response_ratio compares within the same people: below 1, they answer less than they usually do. The view is computed from the deliveries of nine days when it is read, except for busy days whose result is kept (see as_of): give the app and the days. It has no days whose deliveries retention has dropped, and the week after such days is compared with fewer. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.pressure_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.pressure_funnel.pressure IS 'Notifications that the install received in the 24 hours up to and with this one, of all categories, silent ones aside: 1 to 9, and 10 for ten or more. Those that came at the same moment count each other. A receipt over a week after the first event of its delivery may be left out';
COMMENT ON COLUMN analytics.pressure_funnel.turned_off IS 'Installs that turned notifications off within 24 hours after such a notification, and before they received another. Of the changes of a day, the first one to denied counts, and the last one if it is to denied';
COMMENT ON COLUMN analytics.pressure_funnel.compared IS 'Those whose install received others in the seven days up to and with this day. They tell what is usual for the install';
COMMENT ON COLUMN analytics.pressure_funnel.compared_responded IS 'How many of the compared were responded to';
COMMENT ON COLUMN analytics.pressure_funnel.expected_responded IS 'How many would have been, had each install answered as often as it answered its others of those seven days: the sum of these rates, each rounded to six places';
COMMENT ON COLUMN analytics.pressure_funnel.response_ratio IS 'compared_responded / expected_responded: the effect of pressure within the same people. 1 if there is none, below 1 if more notifications get fewer answers. To join days or categories, add both up first';
COMMENT ON COLUMN analytics.pressure_funnel.as_of IS 'Of when the numbers are. Those of a day with 50,000 deliveries or more are kept, and served for up to an hour after something has changed. All others are of now; so are these after SET bellwether.kept = ''current''';

SELECT cluster.offer('counted.pressure_funnel');
GRANT SELECT ON analytics.pressure_funnel TO bellwether_analyst;
