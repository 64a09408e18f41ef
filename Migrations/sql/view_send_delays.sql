-- Why: how long a notification takes from the sender to the phone.
CREATE OR REPLACE VIEW analytics.send_delays AS
SELECT
    app.slug AS app, f.day, f.campaign, f.variant, f.delayed::bigint AS delayed, f.negative::bigint AS negative,
    told.seconds[1] AS median_seconds, told.seconds[2] AS p90_seconds
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, campaign, variant, sum(delayed) AS delayed, sum(negative) AS negative,
        min(bucket) FILTER (WHERE deliveries > 0 AND 2 * so_far >= timed) AS median,
        min(bucket) FILTER (WHERE deliveries > 0 AND 10 * so_far >= 9 * timed) AS ninth
    FROM (
        SELECT
            day, campaign, variant, bucket, sum(delayed) AS delayed, sum(negative) AS negative, sum(deliveries) AS deliveries,
            sum(sum(deliveries)) OVER (PARTITION BY day, campaign, variant ORDER BY bucket) AS so_far,
            sum(sum(deliveries)) OVER (PARTITION BY day, campaign, variant) AS timed
        FROM counted.send_delays AS c WHERE c.app = app.id
        GROUP BY day, campaign, variant, bucket
    ) AS histogram
    GROUP BY day, campaign, variant
    HAVING sum(delayed) > 0
) AS f
CROSS JOIN LATERAL (
    -- A bucket below 16 is that number of microseconds. From 16 on there are eight buckets for each doubling; each is
    -- read as its middle.
    SELECT array_agg(0.000001 * CASE
        WHEN bucket < 16 THEN bucket
        ELSE ((8 + bucket % 8)::bigint << (bucket / 8 - 1)) + (1::bigint << (bucket / 8 - 2))
    END ORDER BY place) AS seconds
    FROM unnest(ARRAY[f.median, f.ninth]) WITH ORDINALITY AS told (bucket, place)
) AS told;

COMMENT ON VIEW analytics.send_delays IS 'How long notifications took from the sender to the service extension of the app. Deliveries that only a send dates are looked up when the view is read: give the app and the days. Days that retention has sealed keep only those whose events say when they were sent. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.send_delays.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.send_delays.day IS 'Day of each delivery''s first event in the time zone of the app';
COMMENT ON COLUMN analytics.send_delays.median_seconds IS 'Median number of seconds from the sending to the receipt (for an even number, the lower of the two in the middle). Exact for 0, otherwise within 10 %';
COMMENT ON COLUMN analytics.send_delays.p90_seconds IS 'The number of seconds that nine of ten deliveries did not exceed. Exact for 0, otherwise within 10 %';

GRANT SELECT ON analytics.send_delays TO bellwether_analyst;
