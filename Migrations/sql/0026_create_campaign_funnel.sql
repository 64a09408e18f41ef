-- Why: what became of each campaign and variant, to stand beside what was sent of it.
LOCK TABLE projection.progress IN EXCLUSIVE MODE;

CREATE TABLE projection.campaign_funnel (
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
    campaign integer NOT NULL,
    variant integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, campaign, variant, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('campaign_funnel', 1, '{campaign_funnel}');
