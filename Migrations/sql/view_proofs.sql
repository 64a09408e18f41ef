-- Why: people must be able to see which numbers were proved, when, and whether they are still those numbers.
CREATE OR REPLACE VIEW analytics.proofs AS
SELECT
    app.slug AS app, p.since, p.verified_at, p.is_proved AS proved, p.differing_cells, stand.position,
    p.made_of <@ present.made_of AND NOT EXISTS (
        -- Finds soon that a busy app has new events, and the next one decides: what is accepted long after its receipt has
        -- an old quarter.
        SELECT FROM log.batch_tally AS t JOIN log.batch AS b ON b.id = t.batch_id
        WHERE t.app = app.id AND t.received_quarter >= p.began_at AND t.accepted > 0 AND b.number > stand.position
    ) AND NOT EXISTS (
        SELECT FROM log.batch AS b JOIN log.batch_tally AS t ON t.batch_id = b.id
        WHERE b.number > stand.position AND t.app = app.id AND t.accepted > 0
    ) AND NOT EXISTS (
        SELECT FROM log.erasure AS e
        WHERE e.app = app.id AND (e.finished_at IS NULL OR e.finished_at >= p.began_at)
    ) AS unchanged
FROM projection.proof AS p
CROSS JOIN LATERAL (SELECT min(position) AS position FROM unnest(p.positions) AS position) AS stand
CROSS JOIN projection.made_of AS present
JOIN log.app AS app ON app.created_at <= p.began_at;

COMMENT ON VIEW analytics.proofs IS 'What bellwether verify found, for each app: which days it counted again from the events, and with what result. Only the newest of each sort: one that covers the same days or more replaces older ones';
COMMENT ON COLUMN analytics.proofs.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.proofs.since IS 'It covers the days from then on, in the time zone of the app; null: all days';
COMMENT ON COLUMN analytics.proofs.verified_at IS 'When it ended';
COMMENT ON COLUMN analytics.proofs.proved IS 'True if every number of those days was compared and none differed. False if some differed, or if some could not be compared';
COMMENT ON COLUMN analytics.proofs.differing_cells IS 'How many numbers differed, of all apps together';
COMMENT ON COLUMN analytics.proofs.position IS 'Position in the log up to which events were counted; some parts may be further';
COMMENT ON COLUMN analytics.proofs.unchanged IS 'True if nothing of the app was stored, removed, moved or built anew since: what was found is true of the numbers that stand there now';

GRANT SELECT ON analytics.proofs TO bellwether_analyst;
