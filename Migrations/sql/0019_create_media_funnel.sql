-- Why: whether pictures and films arrive, over which network, and whether they help.
CREATE TABLE projection.media_funnel (
    deliveries bigint NOT NULL,
    responded bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    kind smallint NOT NULL,
    network smallint NOT NULL,
    outcome smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, kind, network, outcome, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('media_funnel', 1, '{media_funnel}');
