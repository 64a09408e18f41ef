-- Why: whether a group of notifications is still looked at.
CREATE TABLE projection.thread_funnel (
    delivered bigint NOT NULL,
    received bigint NOT NULL,
    expanded bigint NOT NULL,
    opened bigint NOT NULL,
    action_tapped bigint NOT NULL,
    story_action_tapped bigint NOT NULL,
    responded bigint NOT NULL,
    received_responded bigint NOT NULL,
    dismissed bigint NOT NULL,
    unanswered bigint NOT NULL,
    suppressed bigint NOT NULL,
    media_attached bigint NOT NULL,
    items bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    thread integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, thread, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('thread_funnel', 1, '{thread_funnel}');
