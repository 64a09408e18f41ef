-- Why: where in a story people leave, page by page.
CREATE TABLE projection.story_page_funnel (
    planned bigint NOT NULL,
    reached bigint NOT NULL,
    shown bigint NOT NULL,
    views bigint NOT NULL,
    clicked bigint NOT NULL,
    exited bigint NOT NULL,
    dwell_ms bigint NOT NULL,
    dwells bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    page_index smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, campaign, page_index, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('story_page_funnel', 1, '{story_page_funnel}');
