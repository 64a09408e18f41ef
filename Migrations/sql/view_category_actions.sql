-- Why: which buttons are used. The median is the bucket that holds the middle one of the times. It is computed only
-- when a query asks for it, from the times of its row alone.
CREATE OR REPLACE VIEW analytics.category_actions AS
SELECT
    app.slug AS app, f.day, f.category, f.action_id, f.tapped_deliveries::bigint AS tapped_deliveries,
    f.taps::bigint AS taps, f.foreground_taps::bigint AS foreground_taps, f.timed::bigint AS timed,
    f.sole::bigint AS sole, f.received_sole::bigint AS received_sole,
    -- A bucket below 16 is that number of microseconds. From 16 on there are eight buckets for each doubling; each is
    -- read as its middle.
    (
        SELECT 0.000001 * CASE
            WHEN bucket < 16 THEN bucket
            ELSE ((8 + bucket % 8)::bigint << (bucket / 8 - 1)) + (1::bigint << (bucket / 8 - 2))
        END
        FROM (
            SELECT t.key::integer AS bucket, sum(sum(t.value::bigint)) OVER (ORDER BY t.key::integer) AS so_far
            FROM jsonb_array_elements(f.times) AS part (times), jsonb_each_text(nullif(part.times, 'null')) AS t
            GROUP BY t.key::integer
        ) AS told
        WHERE 2 * so_far >= f.timed
        ORDER BY bucket LIMIT 1
    ) AS median_seconds
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, category, action_id, sum(tapped_deliveries) AS tapped_deliveries, sum(taps) AS taps,
        sum(foreground_taps) AS foreground_taps, sum(timed) AS timed, sum(sole) AS sole,
        sum(received_sole) AS received_sole, jsonb_agg(times) AS times
    FROM counted.category_actions AS c WHERE c.app = app.id
    GROUP BY day, category, action_id
    HAVING sum(tapped_deliveries) > 0
) AS f;

COMMENT ON VIEW analytics.category_actions IS 'Which buttons of each category were tapped, how often and how soon. A button that nobody tapped has no row. An iPhone shows buttons only after press and hold, so a delivery is not an exposure. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.category_actions.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.category_actions.day IS 'Day of each delivery''s first event in the time zone of the app, not the day of the tap';
COMMENT ON COLUMN analytics.category_actions.median_seconds IS 'Median number of seconds from the earliest receipt to the first tap of the button, over the timed deliveries (for an even number, the lower of the two in the middle). Exact for 0, otherwise within 10 %. Null if timed is 0';

GRANT SELECT ON analytics.category_actions TO bellwether_analyst;
