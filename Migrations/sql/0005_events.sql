-- Why: the log itself. One typed table, partitioned by the device's own clock: that never changes, so a retry meets
-- its first copy in the same partition, and the unique key needs no other. The key leads with the time, because
-- index pages are then filled in order whatever version the event ids are. `shard` follows from the install; it is in
-- the key from the first day for parallel projectors and for spreading the table over several machines.
-- Wide fixed columns stand first so that nothing is lost to padding.
CREATE TABLE log.event (
    batch_id bigint NOT NULL,
    device_at timestamptz NOT NULL,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    seq bigint,
    notification_sent_at timestamptz,
    media_bytes bigint,
    declared_ms bigint,
    summary_argument_count bigint,
    action_index bigint,
    action_count bigint,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    key integer NOT NULL,
    category integer,
    thread integer,
    campaign integer,
    variant integer,
    analytics_label integer,
    topic integer,
    interruption_level integer,
    platform integer,
    os_version integer,
    app_version integer,
    sdk integer,
    device_model integer,
    locale integer,
    time_zone integer,
    action_id integer,
    link_scheme integer,
    link_host integer,
    media_format integer,
    media_ms integer,
    shard smallint NOT NULL,
    type smallint NOT NULL,
    time_source smallint NOT NULL,
    key_source smallint NOT NULL,
    origin smallint,
    "authorization" smallint,
    via smallint,
    presentation smallint,
    fetch_result smallint,
    media_kind smallint,
    media_outcome smallint,
    media_reason smallint,
    media_network smallint,
    launch smallint,
    activation smallint,
    handled_in smallint,
    page_count smallint,
    declared_page_count smallint,
    page_index smallint,
    cause smallint,
    fallback_reason smallint,
    alert boolean,
    destructive boolean,
    authentication_required boolean,
    text_input boolean,
    loops boolean,
    -- The raw id that became the key (key_source: 1 FCM message, 2 delivery, 3 notification) is stored only where it
    -- is spelled differently.
    notification_key text NOT NULL,
    fcm_message_id text,
    delivery_id text,
    notification_id text,
    apns_id text,
    collapse_id text,
    fid text,
    extra jsonb,
    UNIQUE (device_at, event_id, install_id, app, shard)
) PARTITION BY RANGE (device_at);

CREATE INDEX event_batch ON log.event (batch_id);

GRANT SELECT, INSERT ON log.event TO bellwether_ingest;

-- Why: nothing updates or deletes an event. Privileges say so to the service; this says so to everybody else, the
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
