-- Why: the log itself. One typed table, partitioned by the device's clock: this time never changes, so a retry goes to
-- the partition of the first copy. The unique key begins with the time, so that index pages fill in order whatever
-- version the event ids have.
--
-- Rows are packed. Combinations that many events share are one id (log.device, log.context), codes and flags are bits,
-- some columns have another meaning for each event type, and members that few events carry are in a JSON object.
-- `log.opened_event` shows every member in a column of its own; the views in `analytics` show names.
CREATE TABLE log.event (
    batch_id bigint NOT NULL,
    device_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    codes integer NOT NULL,
    device integer,
    context integer,
    seq integer,
    own integer,
    amount_1 integer,
    amount_2 integer,
    word_1 integer,
    word_2 integer,
    key integer,
    occurred_at timestamptz,
    received_at timestamptz,
    notification_sent_at timestamptz,
    notification_key text COLLATE "C",
    delivery_id text,
    notification_id text,
    fid text,
    fcm_suffix bytea,
    rare jsonb,
    extra jsonb
) PARTITION BY RANGE (device_at);

COMMENT ON TABLE log.event IS 'The events, packed. Read them through analytics.events (names) or log.opened_event (ids and codes)';
COMMENT ON COLUMN log.event.batch_id IS 'The commit that stored it: log.batch.id';
COMMENT ON COLUMN log.event.codes IS 'Bits, lowest first: 4 to tell events with the same hash apart, 6 shard, 5 type, 2 time_source, 2 key_source, 2 origin, 2 alert';
COMMENT ON COLUMN log.event.device IS 'Row of log.device; NULL if the event says nothing about its device';
COMMENT ON COLUMN log.event.context IS 'Row of log.context; NULL if the notification has none of those words';
COMMENT ON COLUMN log.event.seq IS 'A value of more than 31 bits is in rare instead';
COMMENT ON COLUMN log.event.own IS 'Bits with another meaning for each event type; log.opened_event unpacks them';
COMMENT ON COLUMN log.event.amount_1 IS 'media_bytes, action_index or declared_ms, depending on the type; a value of more than 31 bits is in rare instead';
COMMENT ON COLUMN log.event.amount_2 IS 'media_ms or action_count, depending on the type; a value of more than 31 bits is in rare instead';
COMMENT ON COLUMN log.event.word_1 IS 'Id of the word for media_format, action_id or link_scheme, depending on the type';
COMMENT ON COLUMN log.event.word_2 IS 'Id of the word for link_host';
COMMENT ON COLUMN log.event.key IS 'The key it was sent with (log.api_key); NULL for the first key of its app';
COMMENT ON COLUMN log.event.occurred_at IS 'NULL if equal to device_at';
COMMENT ON COLUMN log.event.received_at IS 'NULL if within a tenth of a second after received_at of the batch';
COMMENT ON COLUMN log.event.notification_key IS 'NULL for an event about the install itself';
COMMENT ON COLUMN log.event.delivery_id IS 'NULL if it is the notification key';
COMMENT ON COLUMN log.event.notification_id IS 'NULL if it is the notification key';
COMMENT ON COLUMN log.event.fcm_suffix IS 'SUFFIX of an FCM message id 0:KEY%SUFFIX. NULL if the id is the notification key; an id in another spelling is in rare instead';
COMMENT ON COLUMN log.event.rare IS 'Members that few events carry, by column name';

-- The identity of an event in eight bytes: a hash of (app, install_id, event_id) whose lowest four bits (the tie) tell
-- events with the same hash apart. Every event is first tried with tie 0. If that entry exists, the program compares
-- all three members, and gives a different event the next tie. Times rise, so index pages can be filled completely.
CREATE UNIQUE INDEX event_identity ON log.event (
    device_at,
    ((uuid_hash_extended(event_id, uuid_hash_extended(install_id, app::bigint)) & -16) | (codes & 15)::bigint)
) WITH (fillfactor = 100);

-- The rows of a batch mostly lie together, but PostgreSQL may also fill gaps in older pages: only an index finds them
-- all quickly.
CREATE INDEX event_batch ON log.event (batch_id) WITH (fillfactor = 100);

GRANT SELECT, INSERT ON log.event TO bellwether_ingest;

-- Events are never updated or deleted. Privileges enforce this for the service; this trigger enforces it for everybody
-- else, including the owner in psql. The few operations that must change rows (moving them between partitions, erasure,
-- ties) open the gate for one transaction.
CREATE FUNCTION log.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('bellwether.gate', true) = 'open in ' || pg_current_xact_id()::text THEN
        IF TG_LEVEL = 'STATEMENT' THEN
            RETURN NULL;
        END IF;
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION '% on %.% refused: the log is append-only', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege',
            HINT = 'Use bellwether erase or bellwether retain.';
END
$$;
REVOKE ALL ON FUNCTION log.refuse_change FROM PUBLIC;

-- Only functions of the owner call this. The gate closes with the transaction.
CREATE FUNCTION log.open_gate() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$ SELECT set_config('bellwether.gate', 'open in ' || pg_current_xact_id()::text, true) $$;
REVOKE ALL ON FUNCTION log.open_gate FROM PUBLIC;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON log.event FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON log.batch FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON log.batch_tally FOR EACH ROW EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.event FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.batch FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.batch_tally FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();
