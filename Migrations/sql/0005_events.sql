-- Why: the log itself. One typed table, partitioned by the device's own clock: that never changes, so a retry meets its
-- first copy in the same partition. The unique key begins with the time, because index pages are then filled in order
-- whatever version the event ids are.
--
-- A row is as small as it can be: what many events share is one id (log.device, log.context), codes and flags are bits, a
-- column means something else for each type, and what few events carry stands in a JSON object. `log.opened_event` shows
-- every member in a column of its own, and the views of `analytics` show names.
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

COMMENT ON TABLE log.event IS 'The events, packed: read them through analytics.events (names) or log.opened_event (ids and codes)';
COMMENT ON COLUMN log.event.batch_id IS 'Names the commit that stored it: log.batch.id';
COMMENT ON COLUMN log.event.codes IS 'Bits from the lowest: 4 tell events apart whose hash is the same, 6 shard, 5 type, 2 time_source, 2 key_source, 2 origin, 2 alert';
COMMENT ON COLUMN log.event.device IS 'Its row of log.device; NULL where the event says nothing of its device';
COMMENT ON COLUMN log.event.context IS 'Its row of log.context; NULL where the notification has none of those words';
COMMENT ON COLUMN log.event.seq IS 'In rare where it has over 31 bits';
COMMENT ON COLUMN log.event.own IS 'Bits that only this type of event has: log.opened_event opens them';
COMMENT ON COLUMN log.event.amount_1 IS 'media_bytes, action_index or declared_ms, by type; in rare where it has over 31 bits';
COMMENT ON COLUMN log.event.amount_2 IS 'media_ms or action_count, by type; in rare where it has over 31 bits';
COMMENT ON COLUMN log.event.word_1 IS 'Word of media_format, action_id or link_scheme, by type';
COMMENT ON COLUMN log.event.word_2 IS 'Word of link_host';
COMMENT ON COLUMN log.event.key IS 'The key it came with (log.api_key); NULL for the first key of its app';
COMMENT ON COLUMN log.event.occurred_at IS 'NULL where it is device_at';
COMMENT ON COLUMN log.event.received_at IS 'NULL where it is received_at of the batch, to a tenth of a second';
COMMENT ON COLUMN log.event.notification_key IS 'NULL for an event about the install itself';
COMMENT ON COLUMN log.event.delivery_id IS 'NULL where it is the key';
COMMENT ON COLUMN log.event.notification_id IS 'NULL where it is the key';
COMMENT ON COLUMN log.event.fcm_suffix IS 'Of an FCM message id 0:KEY%SUFFIX. NULL where the id is the key; in rare where it is spelled otherwise';
COMMENT ON COLUMN log.event.rare IS 'Members that few events carry, by the name of their column';

-- What makes an event one event, in eight bytes: a hash of (app, install_id, event_id) whose lowest four bits tell apart
-- those that have the same one. The first of them has 0, so that whoever comes with 0 finds the place taken; the program
-- then compares all three and takes the next number for another event. Times rise, so pages are filled to the brim.
CREATE UNIQUE INDEX event_identity ON log.event (
    device_at,
    ((uuid_hash_extended(event_id, uuid_hash_extended(install_id, app::bigint)) & -16) | (codes & 15)::bigint)
) WITH (fillfactor = 100);

-- The rows of a batch lie together, but PostgreSQL may fill gaps of older pages: only an index finds all of them at once.
CREATE INDEX event_batch ON log.event (batch_id) WITH (fillfactor = 100);

GRANT SELECT, INSERT ON log.event TO bellwether_ingest;

-- Nothing updates or deletes an event. Privileges say so to the service; this says so to everybody else, the
-- owner's own hand in psql included. What must pass (moving rows between partitions, erasure) opens the gate by name
-- for one transaction.
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

-- Only the owner's functions call it; it ends with the transaction.
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
