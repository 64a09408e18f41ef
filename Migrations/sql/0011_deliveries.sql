-- Why: a delivery, one notification on one install, is what every funnel counts. Its row holds what its events say
-- together (the facts), and in `state` what is needed to merge further events in. What its events do not say is NULL, which
-- takes no room.
CREATE TABLE projection.delivery (
    -- Made of the notification key and the install by the program (`DeliveryKey`): the minute of a message id that begins
    -- with the time, so that pushes of today lie together, then 16 bits of the notification key and 24 of both. Two
    -- deliveries may have the same: who looks one up compares its whole name.
    key bigint NOT NULL,
    first_occurred_at timestamptz NOT NULL,
    last_occurred_at timestamptz NOT NULL,
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    -- The first receipt, opening and response in event order, and the earliest opening, dismissal or tap; that of a silent
    -- delivery is NULL.
    received_at timestamptz,
    opened_at timestamptz,
    first_response_at timestamptz,
    answered_at timestamptz,
    install_id uuid NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    -- 1 silent, 2 received, 4 expanded, 8 opened, 16 dismissed, 32 action tapped, 64 story action tapped, 128 media
    -- attached, 256 story started, 512 story finished, 1024 suppressed
    flags integer NOT NULL,
    -- Ids of words.
    category integer,
    campaign integer,
    variant integer,
    thread integer,
    platform integer,
    app_version integer,
    os_version integer,
    device_model integer,
    locale integer,
    interruption_level integer,
    topic integer,
    analytics_label integer,
    -- The action that was tapped; -1 an opening, -2 a story's call to action.
    first_response integer,
    -- NULL is 1.
    items integer,
    shard smallint NOT NULL,
    -- Codes, as in the log.
    origin smallint,
    "authorization" smallint,
    launch smallint,
    media_kind smallint,
    media_network smallint,
    media_outcome smallint,
    fetch_result smallint,
    -- 1 clicked, 2 finished, 3 fallback, 4 abandoned
    story_exit smallint,
    furthest smallint,
    pages smallint,
    notification_key text COLLATE "C" NOT NULL,
    state bytea NOT NULL
) PARTITION BY LIST (tables);

-- Not unique: whoever writes a delivery holds its shard's row of `projection.progress`, and has looked.
CREATE INDEX delivery_key ON projection.delivery (key);
-- From a cell of a funnel to the deliveries behind it, in the order in which they lie.
CREATE INDEX delivery_day ON projection.delivery (app, day);

SELECT projection.add_projector('deliveries', 2, '{delivery}');
