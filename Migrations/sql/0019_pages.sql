-- Why: the web pages beside a service are a process of their own, which is started again whenever it ends. Events are
-- accepted as before, so nobody would notice: `doctor` and `status` tell it from here. The endings of a day are kept.
-- As a process that keeps ending is started at most every 30 seconds, they are few.
CREATE TABLE log.pages_ending (
    ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The service that had started it.
    node text NOT NULL,
    -- Such as 'exit code 69' or 'signal SIGILL'.
    why text NOT NULL
);
CREATE INDEX pages_ending_by_time ON log.pages_ending (ended_at);

CREATE FUNCTION log.note_pages_ending(of_node text, why text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM log.pages_ending WHERE ended_at < clock_timestamp() - interval '1 day';
    INSERT INTO log.pages_ending (node, why) VALUES (left(of_node, 256), left(why, 256));
$$;
REVOKE ALL ON FUNCTION log.note_pages_ending FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.note_pages_ending TO bellwether_ingest, bellwether_projector;
