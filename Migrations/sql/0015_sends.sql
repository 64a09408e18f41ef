-- Why: the top of the funnel. Phones report what arrived. Only the sender knows how much was sent, and only Firebase's
-- export says what Firebase accepted and delivered. Each report is stored once, under its own identity, and never
-- changes.
CREATE SCHEMA sends;

CREATE TABLE sends.send (
    number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    sent_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    -- So few that no sum of them that is ever made overflows.
    recipients bigint CHECK (recipients BETWEEN 0 AND 1000000000000),
    app integer NOT NULL REFERENCES log.app,
    -- The key it was posted with; NULL if it was imported.
    key integer,
    -- How many different message ids were given; NULL if none.
    messages integer CHECK (messages >= 0),
    id text COLLATE "C" NOT NULL,
    -- '' means none, here and in the columns that follow.
    campaign text NOT NULL,
    variant text NOT NULL,
    category text NOT NULL,
    thread text NOT NULL,
    topic text NOT NULL,
    analytics_label text COLLATE "C" NOT NULL,
    -- The state of the payload's story; NULL if the payload has none.
    story text CHECK (story IN ('playable', 'no_valid_page', 'malformed')),
    payload jsonb,
    UNIQUE (app, id)
);
CREATE INDEX send_time ON sends.send (app, sent_at);
-- Finds the story of a campaign and variant at some time.
CREATE INDEX send_story ON sends.send (app, campaign, variant, sent_at, id) WHERE story IS NOT NULL;
-- Finds the first and the last campaign of an analytics label.
CREATE INDEX send_label ON sends.send (app, analytics_label, campaign, variant) WHERE analytics_label <> '' AND campaign <> '';

-- The messages of a send. `message_key` is the same for all spellings of a message id.
CREATE TABLE sends.send_message (
    send bigint NOT NULL REFERENCES sends.send,
    app integer NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    -- The id as given, if its spelling differs from the key.
    message_id text,
    PRIMARY KEY (message_key, app, send)
);

-- The pages that the story of a send declares. `page_index` counts only pages that are shown; NULL for a page that
-- never is.
CREATE TABLE sends.story_page (
    send bigint NOT NULL REFERENCES sends.send,
    declared_ms integer NOT NULL,
    declared_index smallint NOT NULL,
    page_index smallint,
    fault text CHECK (fault IN ('no_image', 'invalid_link', 'button_without_link', 'link_without_button')),
    title text,
    subtitle text,
    button_title text,
    link text,
    image text,
    PRIMARY KEY (send, declared_index),
    UNIQUE (send, page_index)
);

-- Rows of the delivery-data export of Firebase Cloud Messaging. `message_key` and `instance_id` are '' if the row has
-- none.
CREATE TABLE sends.fcm_row (
    event_at timestamptz NOT NULL,
    imported_at timestamptz NOT NULL DEFAULT now(),
    project_number bigint,
    bulk_id bigint,
    ttl bigint,
    app integer NOT NULL REFERENCES log.app,
    event text COLLATE "C" NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    instance_id text COLLATE "C" NOT NULL,
    -- The id as exported, if its spelling differs from the key.
    message_id text,
    message_type text,
    sdk_platform text,
    app_name text,
    collapse_key text,
    priority text,
    topic text,
    analytics_label text,
    UNIQUE (app, event_at, event, message_key, instance_id)
);

-- What the rows of one message to one instance say together. They are merged in such a way that neither the order nor
-- the repetition of imports matters. A row about a topic as a whole is not a message to an instance, and is not merged.
CREATE TABLE sends.fcm_message (
    -- The time of the earliest row: the message counts at this time.
    first_at timestamptz NOT NULL,
    -- The send to a topic that it is part of; NULL if none.
    bulk_id bigint,
    app integer NOT NULL,
    accepted boolean NOT NULL,
    delivered boolean NOT NULL,
    is_data boolean NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    instance_id text COLLATE "C" NOT NULL,
    -- '' means none.
    analytics_label text COLLATE "C" NOT NULL,
    PRIMARY KEY (message_key, instance_id, app)
) WITH (fillfactor = 90);
CREATE INDEX fcm_message_time ON sends.fcm_message (app, first_at);

-- Sends to a topic. FCM returns the id of the message to the whole topic, which the export has in its TOPIC row alone;
-- the messages that FCM makes of it have ids of their own and the same `bulk_id`.
CREATE TABLE sends.fcm_topic (
    first_at timestamptz NOT NULL,
    bulk_id bigint NOT NULL,
    app integer NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    -- '' means none.
    analytics_label text COLLATE "C" NOT NULL,
    PRIMARY KEY (app, bulk_id)
);

-- Sums of the messages that retention has removed, and the time before which it has: older rows are not imported again.
CREATE TABLE sends.fcm_sealed (
    accepted numeric,
    delivered numeric,
    data_accepted numeric,
    data_delivered numeric,
    app integer NOT NULL REFERENCES log.app,
    day date NOT NULL,
    campaign text COLLATE "C" NOT NULL,
    variant text COLLATE "C" NOT NULL,
    PRIMARY KEY (app, day, campaign, variant)
);
CREATE TABLE sends.fcm_retained (
    app integer PRIMARY KEY REFERENCES log.app,
    since timestamptz NOT NULL
);

-- Erased instances, by the SHA-256 of their id: their rows from before the erasure are not imported again.
CREATE TABLE sends.erased_instance (
    app integer NOT NULL REFERENCES log.app,
    instance_hash bytea NOT NULL CHECK (length(instance_hash) = 32),
    erased_at timestamptz NOT NULL,
    PRIMARY KEY (app, instance_hash)
);

-- As in the log, stored rows never change: neither the role that adds them nor anybody else can alter them.
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sends.send FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sends.send_message FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sends.story_page FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sends.fcm_row FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON sends.send FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON sends.send_message FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON sends.story_page FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON sends.fcm_row FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

GRANT USAGE ON SCHEMA sends TO bellwether_ingest;
GRANT SELECT, INSERT ON sends.send, sends.send_message, sends.story_page TO bellwether_ingest;
