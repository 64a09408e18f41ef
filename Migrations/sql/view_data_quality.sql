-- Why: a number is only as good as the data behind it. Everything that was sent is counted by quarter hour of receipt,
-- and every time zone's midnight falls on a quarter hour. Each day is found by an index, so that a query for one day
-- does not read years. The number of dropped events is what clients report, and may be absurdly large.
CREATE OR REPLACE VIEW analytics.data_quality AS
SELECT
    app.slug AS app, days.day, key.name AS key,
    total.accepted, total.duplicate, total.rejected, total.rejected_by_reason, total.corrected, total.clamped, total.late,
    total.client_dropped, total.other
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT min(ends.at) AS first, max(ends.at) AS last
    FROM (
        (SELECT received_quarter AS at FROM log.batch_tally WHERE app = app.id ORDER BY received_quarter LIMIT 1)
        UNION ALL
        (SELECT received_quarter FROM log.batch_tally WHERE app = app.id ORDER BY received_quarter DESC LIMIT 1)
        UNION ALL
        (SELECT received_at FROM log.client_drop WHERE app = app.id ORDER BY received_at LIMIT 1)
        UNION ALL
        (SELECT received_at FROM log.client_drop WHERE app = app.id ORDER BY received_at DESC LIMIT 1)
    ) AS ends
) AS ends
CROSS JOIN LATERAL generate_series(
    (ends.first AT TIME ZONE app.time_zone)::date::timestamp, (ends.last AT TIME ZONE app.time_zone)::date::timestamp,
    interval '1 day'
) AS series (midnight)
CROSS JOIN LATERAL (
    -- When clocks change, a night may have two midnights or none: look at a wider span, and select by day.
    SELECT
        series.midnight::date AS day, (series.midnight AT TIME ZONE app.time_zone) - interval '3 hours' AS first,
        ((series.midnight + interval '1 day') AT TIME ZONE app.time_zone) + interval '3 hours' AS last
) AS days
CROSS JOIN LATERAL (
    SELECT
        part.key, sum(part.accepted)::bigint AS accepted, sum(part.duplicate)::bigint AS duplicate,
        sum(part.rejected)::bigint AS rejected,
        coalesce(
            jsonb_object_agg(part.reason, part.rejected) FILTER (WHERE part.reason IS NOT NULL), '{}'
        ) AS rejected_by_reason,
        sum(part.corrected)::bigint AS corrected, sum(part.clamped)::bigint AS clamped, sum(part.late)::bigint AS late,
        least(sum(part.client_dropped), 9223372036854775807)::bigint AS client_dropped, sum(part.other)::bigint AS other
    FROM (
        SELECT
            t.key, NULL::text AS reason, 0::bigint AS rejected, sum(t.accepted) AS accepted, sum(t.duplicate) AS duplicate,
            sum(t.corrected) AS corrected, sum(t.clamped) AS clamped, sum(t.late) AS late, 0::numeric AS client_dropped,
            sum(t.other) AS other
        FROM log.batch_tally AS t
        WHERE t.app = app.id AND t.received_quarter >= days.first AND t.received_quarter < days.last
            AND (t.received_quarter AT TIME ZONE app.time_zone)::date = days.day
        GROUP BY t.key
        UNION ALL
        SELECT t.key, refused.reason, sum(refused.events::integer), 0, 0, 0, 0, 0, 0, 0
        FROM log.batch_tally AS t
        CROSS JOIN LATERAL jsonb_each_text(t.rejected) AS refused (reason, events)
        WHERE t.app = app.id AND t.received_quarter >= days.first AND t.received_quarter < days.last
            AND (t.received_quarter AT TIME ZONE app.time_zone)::date = days.day AND t.rejected IS NOT NULL
        GROUP BY t.key, refused.reason
        UNION ALL
        SELECT d.key, NULL, 0, 0, 0, 0, 0, 0, sum(d.count), 0
        FROM log.client_drop AS d
        WHERE d.app = app.id AND d.received_at >= days.first AND d.received_at < days.last
            AND (d.received_at AT TIME ZONE app.time_zone)::date = days.day
        GROUP BY d.key
    ) AS part
    GROUP BY part.key
    HAVING sum(part.accepted) + sum(part.duplicate) + sum(part.rejected) + sum(part.client_dropped) > 0
) AS total
LEFT JOIN log.api_key AS key ON key.id = total.key
WHERE (SELECT cluster.is_whole());

COMMENT ON VIEW analytics.data_quality IS 'What became of everything that was sent, by day of receipt and API key. accepted + duplicate + rejected is the number of events sent';
COMMENT ON COLUMN analytics.data_quality.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.data_quality.day IS 'Day of receipt in the time zone of the app. In the funnels it is the day of occurrence';
COMMENT ON COLUMN analytics.data_quality.key IS 'Name of the API key it was sent with';
COMMENT ON COLUMN analytics.data_quality.accepted IS 'Events stored';
COMMENT ON COLUMN analytics.data_quality.duplicate IS 'Events that repeat stored ones and were not stored again. Retries cause them; many of them mean that answers do not reach the clients';
COMMENT ON COLUMN analytics.data_quality.rejected IS 'Events that were rejected; see rejected_events';
COMMENT ON COLUMN analytics.data_quality.rejected_by_reason IS 'Rejected events by reason, as JSON: {"too_old": 3, "invalid_id": 1}';
COMMENT ON COLUMN analytics.data_quality.corrected IS 'Stored events whose device clock was more than 5 minutes off and was corrected';
COMMENT ON COLUMN analytics.data_quality.clamped IS 'Stored events whose time was ahead of the server; they got the time of receipt';
COMMENT ON COLUMN analytics.data_quality.late IS 'Stored events that were received more than a day after they occurred';
COMMENT ON COLUMN analytics.data_quality.client_dropped IS 'Events that client libraries report they had to drop before they could be sent; see client_drops';
COMMENT ON COLUMN analytics.data_quality.other IS 'Stored events with a value that the dictionary of the app did not learn, because it was full or too many new values came at once: the column shows (other), and extra has the value';

GRANT SELECT ON analytics.data_quality TO bellwether_analyst;
