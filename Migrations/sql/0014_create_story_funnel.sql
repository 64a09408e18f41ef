-- Why: how stories ended, by campaign.
CREATE TABLE projection.story_funnel (
    stories bigint NOT NULL,
    started bigint NOT NULL,
    completed bigint NOT NULL,
    exit_clicked bigint NOT NULL,
    exit_finished bigint NOT NULL,
    exit_fallback bigint NOT NULL,
    exit_abandoned bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, campaign, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('story_funnel', 1, '{story_funnel}');
