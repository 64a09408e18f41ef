-- Why: the log's positions. A row sequence is drawn before commit, so who follows it skips late committers. A commit
-- takes the head's row lock last and gives itself the next number: commit order is number order, without a gap.
-- The lock is taken without an update, so a long transaction elsewhere cannot make a chain of dead head rows.
CREATE TABLE log.head (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Frozen when the database is made.
    shards smallint NOT NULL CHECK (shards IN (16, 32, 64)),
    -- Counts what retention and erasure have decided, and the keys that were closed. A writer says at its commit, under the head's lock, which count it
    -- knows; with an older one it is turned back. So nothing slips in behind a decision, and what follows may rely on it.
    history integer NOT NULL DEFAULT 0
);
-- As many shards as the maker of the database has asked for.
INSERT INTO log.head (shards) VALUES (coalesce(nullif(current_setting('bellwether.shards', true), ''), '16')::smallint);

-- Names a batch before it has its number; rows carry this. A writer draws 64 names at a time.
CREATE SEQUENCE log.batch_id INCREMENT BY 64;

CREATE TABLE log.batch (
    number bigint PRIMARY KEY CHECK (number > 0),
    id bigint NOT NULL UNIQUE,
    committed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    node text NOT NULL,
    events integer NOT NULL,
    -- When the first of its events was received. An event that was received up to a tenth of a second later does not say so.
    received_at timestamptz,
    -- A reader must find exactly so many rows in each shard (from 0), or it must stop.
    shard_events integer[] NOT NULL,
    least_device_at timestamptz,
    greatest_device_at timestamptz
);

-- What became of everything that was sent, by the quarter hour in which it was received: every time zone's midnight
-- falls on one.
CREATE TABLE log.batch_tally (
    batch_id bigint NOT NULL,
    app integer NOT NULL,
    key integer NOT NULL,
    received_quarter timestamptz NOT NULL,
    accepted integer NOT NULL,
    duplicate integer NOT NULL,
    corrected integer NOT NULL,
    clamped integer NOT NULL,
    late integer NOT NULL,
    -- Accepted, with a value that the dictionary did not learn.
    other integer NOT NULL,
    -- Count by reason; NULL for none.
    rejected jsonb,
    PRIMARY KEY (batch_id, app, key, received_quarter)
);

-- What was received on a day is asked for every night, of a table that grows with every commit. The times rise, so what is
-- added stands at the right end of the index.
CREATE INDEX batch_tally_by_time ON log.batch_tally (app, received_quarter);

GRANT USAGE ON SEQUENCE log.batch_id TO bellwether_ingest;
-- UPDATE is what SELECT ... FOR UPDATE asks for; the one column it may touch says nothing.
GRANT SELECT, UPDATE (only_one) ON log.head TO bellwether_ingest;
GRANT SELECT, INSERT ON log.batch, log.batch_tally TO bellwether_ingest;

CREATE FUNCTION log.take_head(expected integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present integer;
BEGIN
    SELECT history INTO STRICT present FROM log.head FOR UPDATE;
    IF present <> expected THEN
        RAISE EXCEPTION 'retention, erasure or a closed key has changed what the log takes since it was last asked' USING ERRCODE = 'LH001';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.take_head FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.take_head TO bellwether_ingest;

-- The end of a writer's transaction, in one call: adds what became of everything that was sent, takes the head, and gives the
-- batch its number, which is returned. A tally is nine numbers: app, key, quarter hours since 1970, and the counts in the order
-- of the columns. Each statement in here sees what was committed by its own beginning, as READ COMMITTED has it.
CREATE FUNCTION log.add_batch(
    new_id bigint, new_node text, new_events integer, new_received_at timestamptz, new_shard_events integer[],
    new_least timestamptz, new_greatest timestamptz, tallies bigint[], rejected jsonb[], expected integer
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    new_number bigint;
BEGIN
    INSERT INTO log.batch_tally
        (batch_id, app, key, received_quarter, accepted, duplicate, corrected, clamped, late, other, rejected)
    SELECT new_id, tallies[i], tallies[i + 1], to_timestamp(tallies[i + 2] * 900), tallies[i + 3], tallies[i + 4],
        tallies[i + 5], tallies[i + 6], tallies[i + 7], tallies[i + 8], rejected[i / 9 + 1]
    FROM generate_series(1, cardinality(tallies), 9) AS i;
    PERFORM log.take_head(expected);
    INSERT INTO log.batch (number, id, node, events, received_at, shard_events, least_device_at, greatest_device_at)
    SELECT coalesce((SELECT b.number FROM log.batch AS b ORDER BY b.number DESC LIMIT 1), 0) + 1,
        new_id, new_node, new_events, new_received_at, new_shard_events, new_least, new_greatest
    RETURNING number INTO STRICT new_number;
    RETURN new_number;
END
$$;
REVOKE ALL ON FUNCTION log.add_batch FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.add_batch TO bellwether_ingest;

-- Takes the head until the transaction ends, and counts one more decision.
CREATE FUNCTION log.raise_history() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    raised integer;
BEGIN
    -- What follows must see what was committed while this waited.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the log is changed at READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    UPDATE log.head SET history = history + 1 RETURNING history INTO STRICT raised;
    RETURN raised;
END
$$;
REVOKE ALL ON FUNCTION log.raise_history FROM PUBLIC;

-- Closing a key is such a decision too: when it is committed, no writer adds anything more that came with that key. At the end
-- of its transaction, so that an owner who hesitates before COMMIT holds nobody up.
CREATE FUNCTION log.announce_closed_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM log.raise_history();
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION log.announce_closed_key FROM PUBLIC;
CREATE CONSTRAINT TRIGGER announce_closed AFTER UPDATE OF revoked_at ON log.api_key DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION log.announce_closed_key();

-- For what is stored beside the log: throws if the key is closed, and else keeps it open until the transaction ends.
CREATE FUNCTION log.require_open_key(of_key integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM log.api_key WHERE id = of_key AND revoked_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the key was closed' USING ERRCODE = 'LH002';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.require_open_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.require_open_key TO bellwether_ingest;
