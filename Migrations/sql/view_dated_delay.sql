-- Why: events need not say when they were sent. For such deliveries this looks for the newest send of their campaign
-- and variant before the receipt, and counts the times in between. Sends may be reported late, so this is not stored.
CREATE OR REPLACE VIEW sends.dated_delay AS
SELECT app.id AS app, f.day, f.campaign, f.variant, f.bucket, f.deliveries
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day, campaign, variant, bucket, count(*) AS deliveries
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
                    -- Times have whole microseconds: a send at the moment of the receipt is not before it.
                    (extract(epoch FROM d.extension_at
                        - sent.times[width_bucket(d.extension_at - interval '1 microsecond', sent.times)]) * 1000000)::bigint
                        AS microseconds
                FROM projection.opened_delivery AS d
                JOIN (
                    -- The times of all sends of a campaign and variant, in their order. 3 and 4 are the codes of these
                    -- among the kinds of words.
                    SELECT w.id AS campaign, coalesce(v.id, 0) AS variant, s.times
                    FROM (
                        SELECT
                            coalesce(mc.value, send.campaign) AS campaign, coalesce(mv.value, send.variant) AS variant,
                            array_agg(send.sent_at ORDER BY send.sent_at) AS times
                        FROM sends.send
                        LEFT JOIN log.merged_word AS mc ON mc.app = send.app AND mc.kind = 3 AND mc.sent = send.campaign
                        LEFT JOIN log.merged_word AS mv ON mv.app = send.app AND mv.kind = 4 AND mv.sent = send.variant
                        WHERE send.app = app.id AND send.campaign <> ''
                        GROUP BY 1, 2
                    ) AS s
                    JOIN log.word AS w ON w.app = app.id AND w.kind = 3 AND w.value = s.campaign
                    LEFT JOIN log.word AS v ON v.app = app.id AND v.kind = 4 AND v.value = s.variant AND s.variant <> ''
                    WHERE s.variant = '' OR v.id IS NOT NULL
                ) AS sent ON sent.campaign = d.campaign AND sent.variant = coalesce(d.variant, 0)
                WHERE d.app = app.id AND d.unsent AND d.extension_at > sent.times[1]
                    AND (d.generation = 0 OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
            ) AS delay
        ) AS delay
    ) AS delay
    GROUP BY day, campaign, variant, bucket
) AS f;
