-- Why: when the funnels fall behind or commits are slow, an operator asks where the time goes, and `doctor` and `status`
-- are other processes than the one that knows. Each process notes it here every few seconds while it works: a row for
-- each kind of work, and nothing while it is idle.
CREATE TABLE log.phase_time (
    -- The process that did the work.
    node text NOT NULL,
    -- step or commit.
    work text NOT NULL,
    noted_at timestamptz NOT NULL,
    -- How many seconds before that the following began.
    window_seconds float8 NOT NULL,
    -- Steps or commits that ended.
    pieces bigint NOT NULL,
    phases text[] NOT NULL,
    -- What all threads together spent in each of the phases, those of a piece that has not ended included.
    seconds float8[] NOT NULL,
    PRIMARY KEY (node, work)
) WITH (fillfactor = 50);

-- The process must not wait for a disk or a standby that is slow: that is what it tells of.
CREATE FUNCTION log.note_phases(
    of_node text, of_work text, of_window float8, of_pieces bigint, of_phases text[], of_seconds float8[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT set_config('synchronous_commit', 'off', true);
    DELETE FROM log.phase_time WHERE noted_at < clock_timestamp() - interval '1 day';
    INSERT INTO log.phase_time (node, work, noted_at, window_seconds, pieces, phases, seconds)
    VALUES (left(of_node, 256), left(of_work, 16), clock_timestamp(), of_window, of_pieces, of_phases[1:32], of_seconds[1:32])
    ON CONFLICT (node, work) DO UPDATE SET noted_at = excluded.noted_at, window_seconds = excluded.window_seconds,
        pieces = excluded.pieces, phases = excluded.phases, seconds = excluded.seconds;
$$;
REVOKE ALL ON FUNCTION log.note_phases FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.note_phases TO bellwether_ingest, bellwether_projector;
