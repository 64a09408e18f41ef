-- Why: a number is as good as what it is made of. What was sent is counted by the quarter hour in which it was
-- received; every time zone's midnight falls on one. How much a client dropped it says itself, absurd numbers too.
CREATE OR REPLACE VIEW analytics.data_quality AS
SELECT
    part.slug AS app, part.day, key.name AS key,
    sum(part.accepted)::bigint AS accepted, sum(part.duplicate)::bigint AS duplicate,
    sum(part.rejected)::bigint AS rejected,
    coalesce(
        jsonb_object_agg(part.reason, part.rejected) FILTER (WHERE part.reason IS NOT NULL), '{}'
    ) AS rejected_by_reason,
    sum(part.corrected)::bigint AS corrected, sum(part.clamped)::bigint AS clamped, sum(part.late)::bigint AS late,
    least(sum(part.client_dropped), 9223372036854775807)::bigint AS client_dropped
FROM (
    SELECT
        app.slug, (t.received_quarter AT TIME ZONE app.time_zone)::date AS day, t.key, NULL::text AS reason,
        0::bigint AS rejected, sum(t.accepted) AS accepted, sum(t.duplicate) AS duplicate,
        sum(t.corrected) AS corrected, sum(t.clamped) AS clamped, sum(t.late) AS late, 0::numeric AS client_dropped
    FROM log.batch_tally AS t
    JOIN log.app AS app ON app.id = t.app
    GROUP BY app.id, t.key, t.received_quarter
    UNION ALL
    SELECT
        app.slug, (t.received_quarter AT TIME ZONE app.time_zone)::date AS day, t.key, refused.reason,
        sum(refused.events::integer), 0, 0, 0, 0, 0, 0
    FROM log.batch_tally AS t
    JOIN log.app AS app ON app.id = t.app
    CROSS JOIN LATERAL jsonb_each_text(t.rejected) AS refused (reason, events)
    WHERE t.rejected IS NOT NULL
    GROUP BY app.slug, day, t.key, refused.reason
    UNION ALL
    SELECT
        app.slug, (d.received_at AT TIME ZONE app.time_zone)::date AS day, d.key, NULL, 0, 0, 0, 0, 0, 0, sum(d.count)
    FROM log.client_drop AS d
    JOIN log.app AS app ON app.id = d.app
    GROUP BY app.slug, day, d.key
) AS part
LEFT JOIN log.api_key AS key ON key.id = part.key
GROUP BY part.slug, part.day, part.key, key.id
HAVING sum(part.accepted) + sum(part.duplicate) + sum(part.rejected) + sum(part.client_dropped) > 0;

COMMENT ON VIEW analytics.data_quality IS 'What became of everything that was sent, by the day on which it was received and the key it came with. accepted + duplicate + rejected is what was sent';
COMMENT ON COLUMN analytics.data_quality.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.data_quality.day IS 'Day of receipt in the time zone of the app; in the funnels the day is that of occurrence';
COMMENT ON COLUMN analytics.data_quality.key IS 'Name of the key it came with';
COMMENT ON COLUMN analytics.data_quality.accepted IS 'Events stored';
COMMENT ON COLUMN analytics.data_quality.duplicate IS 'Events that were repeats of stored ones, and were not stored again. Retries make them; many say that answers do not reach the clients';
COMMENT ON COLUMN analytics.data_quality.rejected IS 'Events refused; see rejected_events';
COMMENT ON COLUMN analytics.data_quality.rejected_by_reason IS 'The refused by reason, as JSON: {"too_old": 3, "invalid_id": 1}';
COMMENT ON COLUMN analytics.data_quality.corrected IS 'Stored events whose device clock was over 5 minutes off and was corrected';
COMMENT ON COLUMN analytics.data_quality.clamped IS 'Stored events that lay ahead of the server and got the time of receipt';
COMMENT ON COLUMN analytics.data_quality.late IS 'Stored events that were received over a day after they occurred';
COMMENT ON COLUMN analytics.data_quality.client_dropped IS 'Events that client libraries say they had to throw away before they could be sent; see client_drops';

GRANT SELECT ON analytics.data_quality TO bellwether_analyst;
