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

-- As before, and remembers the Firebase installation ids that the events name: by those the rows of the export go too.
-- Deletes the events of an install that stand in pg_temp.erasure_event, which holds all up to position `found_until`,
-- and those that came since, which are added to that table. Says how many of each month.
CREATE OR REPLACE FUNCTION log.erase_events(of_app integer, of_install uuid, of_shard smallint, found_until bigint)
RETURNS TABLE (month date, events bigint)
-- By the unique key, whatever the statistics say.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    head bigint;
    has_head boolean := false;
    latest timestamptz := '-infinity';
    gone record;
BEGIN
    LOCK TABLE log.batch_loss IN SHARE ROW EXCLUSIVE MODE;
    LOOP
        head := (SELECT coalesce(max(b.number), 0) FROM log.batch AS b);
        INSERT INTO pg_temp.erasure_event (device_at, occurred_at, batch_id, event_id, notification_key, fid)
        SELECT e.device_at, e.occurred_at, e.batch_id, e.event_id, e.notification_key, e.fid
        FROM log.batch AS b
        JOIN log.event AS e ON e.batch_id = b.id AND e.device_at BETWEEN b.least_device_at AND b.greatest_device_at
        WHERE b.number > found_until AND b.number <= head
            AND e.app = of_app AND e.install_id = of_install AND e.shard = of_shard;
        found_until := head;
        PERFORM log.open_gate();
        FOR gone IN
            WITH gone AS (
                DELETE FROM log.event AS e USING pg_temp.erasure_event AS f
                WHERE e.device_at = f.device_at AND e.event_id = f.event_id
                    AND e.install_id = of_install AND e.app = of_app AND e.shard = of_shard
                RETURNING e.batch_id, e.shard, e.occurred_at,
                    date_trunc('month', e.device_at AT TIME ZONE 'UTC')::date AS month
            ), by_batch AS (
                SELECT batch_id, shard, month, count(*)::integer AS events FROM gone GROUP BY batch_id, shard, month
            ), erased AS (
                INSERT INTO log.batch_loss AS l (batch_id, shard, events, month)
                SELECT batch_id, shard, sum(events), NULL FROM by_batch GROUP BY batch_id, shard
                ON CONFLICT (batch_id, shard, month) DO UPDATE SET events = l.events + excluded.events
            ), uncounted AS (
                -- What is gone now, a month that was counted will not take along when it goes.
                UPDATE log.batch_loss AS l SET events = l.events - b.events FROM by_batch AS b
                WHERE l.batch_id = b.batch_id AND l.shard = b.shard AND l.month = b.month
            )
            SELECT g.month, count(*) AS events, max(g.occurred_at) AS latest FROM gone AS g GROUP BY g.month
        LOOP
            month := gone.month;
            events := gone.events;
            latest := greatest(latest, gone.latest);
            RETURN NEXT;
        END LOOP;
        PERFORM set_config('bellwether.gate', '', true);
        -- An event may lie a little ahead of the clock. Erased, it must not come back either: so the moment moves behind
        -- it, and what has come until then goes too.
        EXIT WHEN has_head OR latest < (
            SELECT t.erased_at FROM log.erasure AS t WHERE t.app = of_app AND t.install_id = of_install);
        PERFORM log.raise_history();
        has_head := true;
    END LOOP;
    UPDATE log.erasure AS t
    SET finished_at = clock_timestamp(),
        erased_at = greatest(t.erased_at, latest + interval '1 microsecond'),
        history = CASE WHEN has_head THEN (SELECT h.history FROM log.head AS h) ELSE t.history END
    WHERE t.app = of_app AND t.install_id = of_install;
    INSERT INTO sends.erased_instance AS i (app, instance_hash, erased_at)
    SELECT DISTINCT t.app, sha256(convert_to(f.fid, 'UTF8')), t.erased_at
    FROM log.erasure AS t JOIN pg_temp.erasure_event AS f ON f.fid IS NOT NULL
    WHERE t.app = of_app AND t.install_id = of_install
    ON CONFLICT (app, instance_hash) DO UPDATE SET erased_at = greatest(i.erased_at, excluded.erased_at);
END
$$;
