-- Why: how long a notification takes from the sender to the phone. What the events say themselves is tallied by the fold. For the
-- other deliveries the view looks for the newest send of their campaign and variant before the receipt; sends may be reported
-- late, so this is not stored.
CREATE OR REPLACE VIEW analytics.send_delays AS
SELECT
    app.slug AS app, f.day, coalesce(campaign.value, '') AS campaign, coalesce(variant.value, '') AS variant,
    f.delayed::bigint AS delayed, f.negative::bigint AS negative, told.seconds[1] AS median_seconds, told.seconds[2] AS p90_seconds
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
        FROM (
            SELECT day, campaign, variant, NULL::integer AS bucket, delayed, negative, 0::bigint AS deliveries
            FROM projection.send_delays
            WHERE send_delays.app = app.id
                AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'send_delays'))
            UNION ALL
            SELECT day, campaign, variant, bucket::integer, 0::bigint, 0::bigint, deliveries
            FROM projection.send_delay_times
            WHERE send_delay_times.app = app.id
                AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'send_delays'))
            UNION ALL
            SELECT day, campaign, variant, bucket, count(*), 0::bigint, count(*)
            FROM (
                SELECT
                    day, campaign, variant,
                    CASE WHEN microseconds < 8 THEN microseconds
                        ELSE (exponent - 2) * 8 + (microseconds >> (exponent - 3) & 7) END::integer AS bucket
                FROM (
                    SELECT *, 64 - position(B'1' IN microseconds::bit(64)) AS exponent
                    FROM (
                        SELECT
                            d.day, d.campaign, coalesce(d.variant, 0) AS variant,
                            (extract(epoch FROM d.extension_at - sent.times[width_bucket(d.extension_at, sent.times)]) * 1000000)::bigint
                                AS microseconds
                        FROM projection.opened_delivery AS d
                        JOIN (
                            -- The times of all sends of a campaign and variant, in their order.
                            SELECT w.id AS campaign, coalesce(v.id, 0) AS variant, s.times
                            FROM (
                                SELECT send.campaign, send.variant, array_agg(send.sent_at ORDER BY send.sent_at) AS times
                                FROM sends.send WHERE send.app = app.id AND send.campaign <> ''
                                GROUP BY send.campaign, send.variant
                            ) AS s
                            -- 3 and 4 are the codes of campaigns and variants among the kinds of words.
                            JOIN log.word AS w ON w.app = app.id AND w.kind = 3 AND w.value = s.campaign
                            LEFT JOIN log.word AS v ON v.app = app.id AND v.kind = 4 AND v.value = s.variant AND s.variant <> ''
                            WHERE s.variant = '' OR v.id IS NOT NULL
                        ) AS sent ON sent.campaign = d.campaign AND sent.variant = coalesce(d.variant, 0)
                        WHERE d.app = app.id AND d.flags & 4096 <> 0 AND d.extension_at >= sent.times[1]
                            AND (d.generation = 0 OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
                    ) AS delay
                ) AS delay
            ) AS delay
            GROUP BY day, campaign, variant, bucket
        ) AS part
        GROUP BY day, campaign, variant, bucket
    ) AS histogram
    GROUP BY day, campaign, variant
    HAVING sum(delayed) > 0
) AS f
CROSS JOIN LATERAL (
    -- A bucket below 16 is that number of microseconds. From 16 on there are eight buckets for each doubling; each is read as
    -- its middle.
    SELECT array_agg(0.000001 * CASE
        WHEN bucket < 16 THEN bucket
        ELSE ((8 + bucket % 8)::bigint << (bucket / 8 - 1)) + (1::bigint << (bucket / 8 - 2))
    END ORDER BY place) AS seconds
    FROM unnest(ARRAY[f.median, f.ninth]) WITH ORDINALITY AS told (bucket, place)
) AS told
LEFT JOIN log.word AS campaign ON campaign.id = f.campaign
LEFT JOIN log.word AS variant ON variant.id = f.variant;

COMMENT ON VIEW analytics.send_delays IS 'How long notifications took from the sender to the service extension of the app. Deliveries that only a send dates are looked up when the view is read: give the app and the days. Days that retention has sealed keep only those whose events say when they were sent. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.send_delays.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.send_delays.day IS 'Day of each delivery''s first event in the time zone of the app';
COMMENT ON COLUMN analytics.send_delays.median_seconds IS 'Median number of seconds from the sending to the receipt (for an even number, the lower of the two in the middle). Exact for 0, otherwise within 10 %';
COMMENT ON COLUMN analytics.send_delays.p90_seconds IS 'The number of seconds that nine of ten deliveries did not exceed. Exact for 0, otherwise within 10 %';

GRANT SELECT ON analytics.send_delays TO bellwether_analyst;
