-- Why: a release that broke its receipts shows itself by version of the app.
CREATE TABLE projection.version_funnel (
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
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    platform integer NOT NULL,
    app_version integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, platform, app_version, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('version_funnel', 1, '{version_funnel}');
