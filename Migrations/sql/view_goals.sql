-- Why: what people did that the app is for, with the notifications that it is put down to.
CREATE OR REPLACE VIEW analytics.goals AS
SELECT
    app.slug AS app, g.install_id, g.event_id, g.occurred_at, coalesce(goal.value, '') AS goal, g.value * 0.000001 AS value,
    CASE WHEN g.currency > 0
        THEN chr(64 + (g.currency & 31)) || chr(64 + (g.currency >> 5 & 31)) || chr(64 + (g.currency >> 10 & 31)) END AS currency,
    key.name AS key, g.notification_key AS explicit, g.response_key AS response, g.receipt_key AS receipt,
    g.response_at, g.receipt_at, g.counted
FROM projection.goal AS g
JOIN log.app AS app ON app.id = g.app
LEFT JOIN log.word AS goal ON goal.id = g.goal
LEFT JOIN log.api_key AS key ON key.id = coalesce(g.key, (SELECT min(k.id) FROM log.api_key AS k WHERE k.app = g.app))
WHERE g.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
    AND (SELECT cluster.is_whole())
    AND ((SELECT cluster.hidden_shards()) IS NULL OR g.shard <> ALL ((SELECT cluster.hidden_shards())::smallint[]));

COMMENT ON VIEW analytics.goals IS 'One row for each goal.reached, with the deliveries that it is put down to by each rule. A goal that names its notification is that notification''s by both rules. Of an install, the last 100 goals of each day (UTC) count, and of a delivery, the last 1,000 by each rule: a phone in a loop changes nothing more. What retention has removed is not here; goal_funnel keeps it';
COMMENT ON COLUMN analytics.goals.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.goals.install_id IS 'One installation of the app on one device. Never a person';
COMMENT ON COLUMN analytics.goals.event_id IS 'Id of the event';
COMMENT ON COLUMN analytics.goals.occurred_at IS 'When the goal was reached';
COMMENT ON COLUMN analytics.goals.goal IS 'Which goal: the app''s own word, such as purchase';
COMMENT ON COLUMN analytics.goals.value IS 'What it was worth, exact to six decimals; null if the event does not say';
COMMENT ON COLUMN analytics.goals.currency IS 'Currency of the value; null if the event does not say. Values of different currencies cannot be added up';
COMMENT ON COLUMN analytics.goals.key IS 'Name of the key that the event was sent with';
COMMENT ON COLUMN analytics.goals.explicit IS 'Key of the notification that the event itself names; null if it names none';
COMMENT ON COLUMN analytics.goals.response IS 'By the rule response: the notification that the event names, else the one of the install''s latest response (opened, a button or a story''s call to action tapped) at or before the goal and at most 7 days before. Null if there is none, or if it is sealed by retention';
COMMENT ON COLUMN analytics.goals.receipt IS 'By the rule receipt: the notification that the event names, else the one of the install''s latest receipt at or before the goal and at most 7 days before, without silent receipts and those that the app showed to nobody. Null if there is none, or if it is sealed by retention';
COMMENT ON COLUMN analytics.goals.response_at IS 'When that response was; null if the event names its notification';
COMMENT ON COLUMN analytics.goals.receipt_at IS 'When that receipt was; null if the event names its notification';
COMMENT ON COLUMN analytics.goals.counted IS 'Whether it counts: false beyond the last 100 goals of the install on its day (UTC)';
GRANT SELECT ON analytics.goals TO bellwether_analyst;
