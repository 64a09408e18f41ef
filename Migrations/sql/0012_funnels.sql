-- Why: what became of the notifications of each category, day by day: the first table anybody reads.
CREATE TABLE projection.category_funnel (
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
    category integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('category_funnel', 1, '{category_funnel}');

-- which button was tapped, how often and how soon. Times are kept by bucket: eight to each doubling of the
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

-- the buttons of a notification show only when it is pressed and held, so delivered is not exposure. Whoever opened
-- the content extension or tapped a button has seen the buttons.
CREATE TABLE projection.category_exposures (
    exposed bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('category_exposures', 1, '{category_exposures}');

-- what became of each campaign and variant, to stand beside what was sent of it.
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

-- how stories ended, by campaign.
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

-- where in a story people leave, page by page.
CREATE TABLE projection.story_page_funnel (
    planned bigint NOT NULL,
    reached bigint NOT NULL,
    shown bigint NOT NULL,
    views bigint NOT NULL,
    clicked bigint NOT NULL,
    exited bigint NOT NULL,
    dwell_ms bigint NOT NULL,
    dwells bigint NOT NULL,
    auto_advances bigint NOT NULL DEFAULT 0,
    manual_advances bigint NOT NULL DEFAULT 0,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    page_index smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, campaign, page_index, shard, tables)
) PARTITION BY LIST (tables);

-- Advances that the events do not tell. `gap` is how long the page stood, in twentieths of a second: 2n is n tenths to the
-- microsecond, 2n + 1 more than that and less than n + 1 tenths. So they are within 0.4 s of d tenths exactly when their
-- gap lies from 2 * (d - 4) to 2 * (d + 4).
CREATE TABLE projection.story_page_gaps (
    advances bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    page_index smallint NOT NULL,
    gap smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, campaign, page_index, gap, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('story_page_funnel', 2, '{story_page_funnel,story_page_gaps}');

-- whether a group of notifications is still looked at.
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

-- a release that broke its receipts shows itself by version of the app.
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

-- silent pushes are shown to nobody and would drown every rate, so they are counted apart.
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

-- whether pictures and films arrive, over which network, and whether they help.
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
