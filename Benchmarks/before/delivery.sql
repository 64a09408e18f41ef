-- The row of a delivery as it was: the whole name is the key. `Benchmarks/layout` holds today's against it.
CREATE SCHEMA IF NOT EXISTS before;
DROP TABLE IF EXISTS before.delivery CASCADE;
CREATE TABLE before.delivery (
    first_occurred_at timestamptz NOT NULL,
    last_occurred_at timestamptz NOT NULL,
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    install_id uuid NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    variant integer NOT NULL,
    thread integer NOT NULL,
    platform integer NOT NULL,
    app_version integer NOT NULL,
    items integer NOT NULL,
    -- 1 silent, 2 received, 4 expanded, 8 opened, 16 dismissed, 32 action tapped, 64 story action tapped, 128 media
    -- attached, 256 story started, 512 story finished, 1024 suppressed
    flags integer NOT NULL,
    shard smallint NOT NULL,
    origin smallint NOT NULL,
    media_kind smallint NOT NULL,
    media_network smallint NOT NULL,
    media_outcome smallint NOT NULL,
    fetch_result smallint NOT NULL,
    -- 1 clicked, 2 finished, 3 fallback, 4 abandoned
    story_exit smallint NOT NULL,
    furthest smallint NOT NULL,
    pages smallint NOT NULL,
    notification_key text COLLATE "C" NOT NULL,
    state bytea NOT NULL,
    -- The earliest opening, dismissal or tap; NULL where there is none, and for silent deliveries.
    answered_at timestamptz,
    PRIMARY KEY (notification_key, install_id, app, shard, tables)
) WITH (fillfactor = 80);
CREATE INDEX delivery_day ON before.delivery (app, day);

-- Today's rows in these columns.
CREATE OR REPLACE VIEW before.delivery_rows AS
SELECT
    first_occurred_at, last_occurred_at, first_device_at, last_device_at, install_id, tables, app, day,
    coalesce(category, 0) AS category, coalesce(campaign, 0) AS campaign, coalesce(variant, 0) AS variant,
    coalesce(thread, 0) AS thread, coalesce(platform, 0) AS platform, coalesce(app_version, 0) AS app_version,
    coalesce(items, 1) AS items, flags, shard, coalesce(origin, 0::smallint) AS origin,
    coalesce(media_kind, 0::smallint) AS media_kind, coalesce(media_network, 0::smallint) AS media_network,
    coalesce(media_outcome, 0::smallint) AS media_outcome, coalesce(fetch_result, 0::smallint) AS fetch_result,
    coalesce(story_exit, 0::smallint) AS story_exit, coalesce(furthest, -1::smallint) AS furthest,
    coalesce(pages, 0::smallint) AS pages, notification_key, state, answered_at
FROM projection.opened_delivery;
