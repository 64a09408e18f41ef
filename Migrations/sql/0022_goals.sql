-- Why: people want to know which notification led to a purchase. A goal counts for the delivery of the latest response
-- and of the latest receipt before it, so the fold remembers both for each install, but only of apps that reach goals:
-- all others pay nothing. All of this belongs to the fold, as the deliveries do.

-- What a goal may have come from: a receipt that showed something (kind 2), or a response (kind 1).
CREATE TABLE projection.goal_touch (
    occurred_at timestamptz NOT NULL,
    device_at timestamptz NOT NULL,
    seq bigint NOT NULL,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    generation integer NOT NULL,
    app integer NOT NULL,
    shard smallint NOT NULL,
    kind smallint NOT NULL,
    notification_key text COLLATE "C" NOT NULL
) PARTITION BY LIST (generation);

-- Leads from a goal to what came last before it, in event order. All of that order is in the index: otherwise a client
-- could send a million events of one moment, and each goal would sort them.
CREATE INDEX goal_touch_latest ON projection.goal_touch (app, install_id, kind, occurred_at, seq, event_id, device_at);

-- The goals, a row for each event, and the deliveries that they count for.
CREATE TABLE projection.goal (
    occurred_at timestamptz NOT NULL,
    device_at timestamptz NOT NULL,
    -- When the response and the receipt were that it counts for. NULL if the goal itself names its notification.
    response_at timestamptz,
    receipt_at timestamptz,
    seq bigint NOT NULL,
    -- In millionths.
    value bigint,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    generation integer NOT NULL,
    app integer NOT NULL,
    -- Id of the word.
    goal integer NOT NULL,
    -- As in log.event: NULL for the first key of the app.
    key integer,
    shard smallint NOT NULL,
    -- Five bits for each letter; 0 for none.
    currency smallint NOT NULL,
    -- 1: what it counted for by response is sealed; 2: the same by receipt.
    sealed smallint NOT NULL DEFAULT 0,
    -- False beyond the most goals that count of an install and day.
    counted boolean NOT NULL DEFAULT true,
    notification_key text COLLATE "C",
    -- The deliveries that it counts for by each rule.
    response_key text COLLATE "C",
    receipt_key text COLLATE "C"
) PARTITION BY LIST (generation);

-- Leads from a receipt or response to the goals that follow it.
CREATE INDEX goal_counted ON projection.goal (app, install_id, occurred_at, seq, event_id, device_at) WHERE counted;
-- Lead from a delivery to its goals, the last ones first.
CREATE INDEX goal_by_response ON projection.goal (app, install_id, response_key, occurred_at, seq, event_id, device_at)
    WHERE response_key IS NOT NULL;
CREATE INDEX goal_by_receipt ON projection.goal (app, install_id, receipt_key, occurred_at, seq, event_id, device_at)
    WHERE receipt_key IS NOT NULL;

SELECT projection.make_table(parent, number)
FROM unnest('{goal_touch,goal}'::text[]) AS parent,
    (SELECT 0 UNION ALL SELECT id FROM projection.generation WHERE state = 'live') AS made (number);

-- Goals of which retention has sealed something. `rules`: 1 what they counted for by response, 2 the same by receipt, 4
-- all of it: such a goal is no goal any more. Its one device time has two columns, as those of the other sealed rows.
CREATE TABLE projection.sealed_goal (
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    shard smallint NOT NULL,
    rules smallint NOT NULL,
    PRIMARY KEY (event_id, install_id, app, first_device_at)
);
-- Only retention writes it, as the owner.
REVOKE ALL ON projection.sealed_goal FROM bellwether_projector;
GRANT SELECT ON projection.sealed_goal TO bellwether_projector;

-- The apps that have reached a goal in this shard: the fold keeps their receipts and responses, and counts what their
-- rates are of. For other apps it does neither.
ALTER TABLE projection.progress ADD COLUMN goal_apps integer[] NOT NULL DEFAULT '{}';

-- Goals by what they count for, and by the time that passed (the first of eleven limits that it does not exceed). A
-- value is two numbers, since a few great ones add up to more than 64 bits: millionths are high * 10^9 + low.
SELECT projection.make_funnel(
    'goal_cells',
    '{category integer,campaign integer,variant integer,goal integer,currency smallint,rule smallint,bucket smallint}',
    '{goals,converted,value_high,value_low}');
-- What the rates are of.
SELECT projection.make_funnel(
    'goal_bases', '{category integer,campaign integer,variant integer}', '{received,responded}');
SELECT projection.add_projector('goal_funnel', 1, '{goal_cells,goal_bases}');
-- The fold itself has new rules.
SELECT projection.raise_version('deliveries', 3);
