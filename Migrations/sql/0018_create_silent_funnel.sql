-- Why: silent pushes are shown to nobody and would drown every rate, so they are counted apart.
CREATE TABLE projection.silent_funnel (
    woken bigint NOT NULL,
    new_data bigint NOT NULL,
    no_data bigint NOT NULL,
    failed bigint NOT NULL,
    no_result bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    campaign integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, campaign, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('silent_funnel', 1, '{silent_funnel}');
