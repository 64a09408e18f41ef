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
