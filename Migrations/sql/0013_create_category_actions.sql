-- Why: which button was tapped, how often and how soon. Times are kept by bucket: eight to each doubling of the
-- microseconds, so that a median can be had of sums and is off by a sixteenth at most.
CREATE TABLE projection.category_actions (
    tapped_deliveries bigint NOT NULL,
    taps bigint NOT NULL,
    foreground_taps bigint NOT NULL,
    timed bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    action_id integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, action_id, shard, tables)
) PARTITION BY LIST (tables);

CREATE TABLE projection.category_action_times (
    deliveries bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    action_id integer NOT NULL,
    bucket smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, action_id, bucket, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('category_actions', 1, '{category_actions,category_action_times}');
