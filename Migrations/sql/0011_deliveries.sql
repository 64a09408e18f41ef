-- Why: a delivery, one notification on one install, is what every funnel counts. Its row holds what its events say
-- together (the facts), and in `state` what is needed to merge further events in. What its events do not say is NULL, which
-- takes no room.
CREATE TABLE projection.delivery (
    -- Made of the notification key and the install by the program (`DeliveryKey`): the minute of a message id that begins
    -- with the time, so that pushes of today lie together, then 16 bits of the notification key and 24 of both. Two
    -- deliveries may have the same: who looks one up compares its whole name.
    key bigint NOT NULL,
    first_occurred_at timestamptz NOT NULL,
    -- NULL where it is the first.
    last_occurred_at timestamptz,
    -- NULL where the device's clock said the same as that of the column with `occurred`.
    first_device_at timestamptz,
    last_device_at timestamptz,
    -- The first receipt in event order. NULL where there is none, and where it is the first event.
    received_at timestamptz,
    -- The first opening and response in event order, and the earliest opening, dismissal or tap. NULL where there is none, and
    -- where it is the last event.
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
    -- Bits of what has few values, as the log's codes: origin, authorization, launch, media, fetch result, story exit.
    codes integer NOT NULL,
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
    furthest smallint,
    pages smallint,
    notification_key text COLLATE "C" NOT NULL,
    state bytea NOT NULL
) PARTITION BY LIST (tables);

-- Not unique: whoever writes a delivery holds its shard's row of `projection.progress`, and has looked.
CREATE INDEX delivery_key ON projection.delivery (key);
-- From a cell of a funnel to the deliveries behind it. Rows of one day lie together, save for what comes late; so a few days for
-- every 2 MiB of rows say where to look, and cost nothing to keep. A btree took a fifth of the time of every insertion.
CREATE INDEX delivery_day ON projection.delivery
    USING brin (day date_minmax_multi_ops (values_per_range = 64)) WITH (pages_per_range = 256, autosummarize = on);

SELECT projection.add_projector('deliveries', 2, '{delivery}');
