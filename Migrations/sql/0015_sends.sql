-- Why: the top of the funnel. The phones tell what arrived; how much went out only the sender knows, and what Firebase
-- took of it and handed over only Firebase's export. What is told is kept as it was told: once, by its own identity, and
-- nothing of it changes.
CREATE SCHEMA sends;

CREATE TABLE sends.send (
    number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    sent_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    recipients bigint CHECK (recipients >= 0),
    app integer NOT NULL REFERENCES log.app,
    -- The key it came with; NULL for one that was imported.
    key integer,
    -- How many different message ids were told; NULL where none were.
    messages integer CHECK (messages >= 0),
    id text COLLATE "C" NOT NULL,
    -- '' is none.
    campaign text NOT NULL,
    variant text NOT NULL,
    category text NOT NULL,
    thread text NOT NULL,
    topic text NOT NULL,
    analytics_label text COLLATE "C" NOT NULL,
    -- Of the payload's story: playable, no_valid_page or malformed; NULL where there is none.
    story text CHECK (story IN ('playable', 'no_valid_page', 'malformed')),
    payload jsonb,
    UNIQUE (app, id)
);
CREATE INDEX send_time ON sends.send (app, sent_at);
-- The newest story of a campaign.
CREATE INDEX send_story ON sends.send (app, campaign, sent_at, id) WHERE story IS NOT NULL;
-- The campaigns of a label: its first and its last.
CREATE INDEX send_label ON sends.send (app, analytics_label, campaign, variant) WHERE analytics_label <> '' AND campaign <> '';

-- The messages of a send, by what all spellings of a message id share.
CREATE TABLE sends.send_message (
    send bigint NOT NULL REFERENCES sends.send,
    app integer NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    -- As told, where that is spelled differently.
    message_id text,
    PRIMARY KEY (message_key, app, send)
);

-- The pages that the story of a send declares. `page_index` is its place among the pages shown, NULL for one that never is.
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

-- Rows of the delivery-data export of Firebase Cloud Messaging. `message_id` and `instance_id` are '' where the row has none.
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
    -- As exported, where that is spelled differently.
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

-- What the rows of one message to one instance say together. All of it is merged so that neither order nor repetition of
-- an import matters. What goes to a topic as a whole is no message to anybody, and stands in the rows only.
CREATE TABLE sends.fcm_message (
    -- Of the earliest row: with this time the message counts.
    first_at timestamptz NOT NULL,
    app integer NOT NULL,
    accepted boolean NOT NULL,
    delivered boolean NOT NULL,
    is_data boolean NOT NULL,
    message_key text COLLATE "C" NOT NULL,
    instance_id text COLLATE "C" NOT NULL,
    -- '' is none.
    analytics_label text COLLATE "C" NOT NULL,
    PRIMARY KEY (message_key, instance_id, app)
) WITH (fillfactor = 90);
CREATE INDEX fcm_message_time ON sends.fcm_message (app, first_at);

-- What is left of messages that retention has taken, and up to when it has: rows from before do not come back.
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

-- Instances that were erased, by the SHA-256 of their id: rows of theirs from before do not come back.
CREATE TABLE sends.erased_instance (
    app integer NOT NULL REFERENCES log.app,
    instance_hash bytea NOT NULL CHECK (length(instance_hash) = 32),
    erased_at timestamptz NOT NULL,
    PRIMARY KEY (app, instance_hash)
);

-- As for the log: who adds what was told changes nothing of it, and nobody else does either.
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
