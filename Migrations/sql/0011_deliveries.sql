-- Why: every funnel counts deliveries: one notification on one install. The row of a delivery holds what its events say
-- together (the facts), and in `state` what is needed to merge in further events. What its events do not say is NULL,
-- which takes no space.
CREATE TABLE projection.delivery (
    -- Computed by the program from the notification key and the install (`DeliveryKey`): the minute, if the message id
    -- begins with a time, so that today's pushes lie together; then a 16-bit hash of the notification key and a 24-bit
    -- hash of the whole name with the generation's secret. Two deliveries may have the same key: whoever looks one up
    -- compares its full name.
    key bigint NOT NULL,
    first_occurred_at timestamptz NOT NULL,
    -- NULL if equal to first_occurred_at.
    last_occurred_at timestamptz,
    -- NULL if equal to the column with `occurred` in place of `device`.
    first_device_at timestamptz,
    last_device_at timestamptz,
    -- The first receipt in event order. NULL if there is none, or if it is the first event.
    received_at timestamptz,
    -- The earliest receipt by the service extension, if no event says when the notification was sent. NULL if there is
    -- none, or if it is the first receipt.
    extension_at timestamptz,
    -- The first opening and the first response in event order, and the earliest opening, dismissal or tap. NULL if
    -- there is none, or if it is the last event.
    opened_at timestamptz,
    first_response_at timestamptz,
    answered_at timestamptz,
    install_id uuid NOT NULL,
    generation integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    -- 1 silent, 2 received, 4 expanded, 8 opened, 16 dismissed, 32 action tapped, 64 story action tapped, 128 media
    -- attached, 256 story started, 512 story finished, 1024 suppressed,
    -- 2048 sole (every response is a tap of one and the same action), 4096 unsent (received by the service extension,
    -- and no event says when it was sent)
    flags integer NOT NULL,
    -- Members with few values, packed as bits: origin, authorization, launch, media, fetch result, story exit, reach.
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
    -- Word of the action that was tapped; -1 for an opening, -2 for a story's call to action.
    first_response integer,
    -- NULL stands for 1.
    items integer,
    shard smallint NOT NULL,
    furthest smallint,
    pages smallint,
    notification_key text COLLATE "C" NOT NULL,
    state bytea NOT NULL
) PARTITION BY LIST (generation);

-- Not unique. It need not be: whoever writes a delivery has locked its shard's row of `projection.progress` and looked
-- for it.
CREATE INDEX delivery_key ON projection.delivery (key);
-- Leads from a cell of a funnel to the deliveries behind it. Rows of one day lie together, except for late ones; so it
-- is enough to keep a few days for every 2 MiB of rows, which costs almost nothing. A btree took a fifth of all
-- insertion time.
CREATE INDEX delivery_day ON projection.delivery
    USING brin (day date_minmax_multi_ops (values_per_range = 64)) WITH (pages_per_range = 256, autosummarize = on);

-- Almost no delivery is silent. Without this, PostgreSQL expects one in two hundred to be shown, and plans accordingly.
CREATE STATISTICS projection.delivery_silent ON (flags & 1) FROM projection.delivery;

-- Beside the deliveries: an install on each day on which it sent an event. The row holds what its events of that day
-- say together, and in `state` what is needed to merge in further events and to divide the day when the app's time zone
-- changes.
CREATE TABLE projection.install_day (
    -- Computed by the program from the day and the install, so that rows of today share pages of the index.
    key bigint NOT NULL,
    first_at timestamptz NOT NULL,
    -- NULL if equal to first_at; the device's times if equal to the one without `device`.
    last_at timestamptz,
    first_device_at timestamptz,
    last_device_at timestamptz,
    -- The first permission.changed to denied, and the last one to anything.
    turned_off_at timestamptz,
    changed_at timestamptz,
    install_id uuid NOT NULL,
    generation integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    -- Ids of words: what the last event that says it says.
    platform integer,
    app_version integer,
    os_version integer,
    device_model integer,
    locale integer,
    time_zone integer,
    -- Of the last receipt before notifications were turned off.
    muted_category integer,
    muted_campaign integer,
    -- Bits, lowest first: 3 authorization, 3 what the last change changed to, 1 turned off, 1 turned on, 1 had received
    -- nothing, 2 reach.
    codes smallint NOT NULL,
    shard smallint NOT NULL,
    state bytea NOT NULL
) PARTITION BY LIST (generation);

-- Not unique, as that of deliveries.
CREATE INDEX install_day_key ON projection.install_day (key);
-- Leads from an install that received something to the days on which it turned notifications off, of which there are
-- few.
CREATE INDEX install_day_turned_off ON projection.install_day (install_id) WHERE turned_off_at IS NOT NULL;

SELECT projection.add_projector('deliveries', 2, '{delivery,install_day}');
