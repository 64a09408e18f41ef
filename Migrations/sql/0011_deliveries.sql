-- Why: a delivery, one notification on one install, is what every funnel counts. Its row holds what its events say
-- together (the facts), and in `state` what is needed to merge further events in. The key leads with the notification
-- key, since message ids of FCM begin with the time: pushes of today lie together.
-- 0 is none where a code or the id of a word stands; `furthest` is -1 where no page was reached.
CREATE TABLE projection.delivery (
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
) PARTITION BY LIST (tables);

-- From a cell of a funnel to the deliveries behind it.
CREATE INDEX delivery_day ON projection.delivery (app, day);

SELECT projection.add_projector('deliveries', 2, '{delivery}');
