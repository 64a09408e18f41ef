-- Why: a tap on Close is a tap, but not engagement. The registry says what each button means.
CREATE OR REPLACE VIEW analytics.category_answers AS
SELECT
    app.slug AS app, f.day, f.category, f.answer, f.tapped_deliveries::bigint AS tapped_deliveries,
    f.taps::bigint AS taps
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        a.day, a.category, coalesce(known.answer, '') AS answer,
        sum(a.tapped_deliveries) AS tapped_deliveries, sum(a.taps) AS taps
    FROM (
        SELECT day, category, action_id, sum(tapped_deliveries) AS tapped_deliveries, sum(taps) AS taps
        FROM counted.category_actions AS c WHERE c.app = app.id
        GROUP BY day, category, action_id
        HAVING sum(tapped_deliveries) > 0
    ) AS a
    LEFT JOIN registry.shown_button AS known
        ON known.app = app.id AND known.category = a.category AND known.action_id = a.action_id
    GROUP BY 1, 2, 3
) AS f;

COMMENT ON VIEW analytics.category_answers IS 'Taps of buttons, by what the buttons mean, day by day: closing and declining are not engagement. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.category_answers.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.category_answers.day IS 'Day of each delivery''s first event in the time zone of the app, not the day of the tap';
COMMENT ON COLUMN analytics.category_answers.category IS 'Notification category; '''' for deliveries without one';
COMMENT ON COLUMN analytics.category_answers.answer IS 'accept, decline, later or close, as registered now or last; '''' for buttons with no registered meaning';
COMMENT ON COLUMN analytics.category_answers.tapped_deliveries IS 'Deliveries on which such a button was tapped. A delivery with taps of two buttons counts for both';
COMMENT ON COLUMN analytics.category_answers.taps IS 'Taps of such buttons, including repeated ones';

GRANT SELECT ON analytics.category_answers TO bellwether_analyst;
