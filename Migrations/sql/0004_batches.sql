-- Why: positions in the log. A sequence value is drawn before commit, so a reader that follows a sequence misses
-- transactions that commit late. Here each commit takes the row lock of log.head last and gives itself the next number:
-- commit order is number order, without gaps. The lock is taken without an update, so a long transaction elsewhere
-- cannot cause a chain of dead versions of that row.
CREATE TABLE log.head (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Chosen when the database is created, and never changed.
    shards smallint NOT NULL CHECK (shards IN (4, 8, 16, 32, 64)),
    -- Counts the decisions of retention and erasure, revoked keys, and new maps of shards. At its commit, under the
    -- lock on this row, a writer states the count it knows. If the count is older, the commit fails. So no event can be
    -- added after a decision that forbids it, and the work that follows the decision can rely on that.
    history integer NOT NULL DEFAULT 0,
    -- Counts the merges and prunes of words. Funnels that were counted under an older number must be rebuilt.
    words integer NOT NULL DEFAULT 0
);
-- The number of shards that was asked for when the database was created.
INSERT INTO log.head (shards) VALUES (coalesce(nullif(current_setting('bellwether.shards', true), ''), '16')::smallint);

-- Identifies a batch before it has its number; rows carry this id. A writer draws 64 ids at a time.
CREATE SEQUENCE log.batch_id INCREMENT BY 64;

CREATE TABLE log.batch (
    number bigint PRIMARY KEY CHECK (number > 0),
    id bigint NOT NULL UNIQUE,
    committed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    node text NOT NULL,
    events integer NOT NULL,
    -- When the first of its events was received. Events received up to a tenth of a second later share this time.
    received_at timestamptz,
    -- How many rows each shard (from 0) has. A reader that finds another number must stop.
    shard_events integer[] NOT NULL,
    least_device_at timestamptz,
    greatest_device_at timestamptz
);

-- What became of everything that was sent, by quarter hour of receipt. In every time zone midnight falls on a quarter
-- hour.
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
    -- Accepted events with a value that the dictionary did not learn.
    other integer NOT NULL,
    -- Counts by reason; NULL if none were rejected.
    rejected jsonb,
    PRIMARY KEY (batch_id, app, key, received_quarter)
);

-- Every night a report reads one day of this table, which grows with every commit. Times only rise, so new entries go
-- to the right end of the index.
CREATE INDEX batch_tally_by_time ON log.batch_tally (app, received_quarter);

GRANT USAGE ON SEQUENCE log.batch_id TO bellwether_ingest;
-- SELECT ... FOR UPDATE needs the UPDATE privilege. It is granted on a column that carries no information.
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
        RAISE EXCEPTION 'retention, erasure, a revoked key or a new map has changed what the log accepts since this writer last looked'
            USING ERRCODE = 'LH001';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.take_head FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.take_head TO bellwether_ingest;

-- Ends a writer's transaction in one call: adds the tallies, locks the head, and returns the number that the batch
-- gets. A tally is nine numbers: app, key, quarter hours since 1970, and the counts in the order of the columns. Under
-- READ COMMITTED each statement of the function sees what was committed before that statement began.
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

-- Locks the head until the transaction ends, and counts one more decision.
CREATE FUNCTION log.raise_history() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    raised integer;
BEGIN
    -- Later statements must see what was committed while this one waited for the lock.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the log can only be changed at isolation level READ COMMITTED' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    UPDATE log.head SET history = history + 1 RETURNING history INTO STRICT raised;
    RETURN raised;
END
$$;
REVOKE ALL ON FUNCTION log.raise_history FROM PUBLIC;

-- Counts a decision at the end of its transaction, so that writers do not wait for an owner who is slow to COMMIT.
CREATE FUNCTION log.announce_decision() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM log.raise_history();
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION log.announce_decision FROM PUBLIC;

-- Revoking a key is such a decision, too: after it is committed, no writer stores anything that was sent with that key.
CREATE CONSTRAINT TRIGGER announce_closed AFTER UPDATE OF revoked_at ON log.api_key DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION log.announce_decision();

-- For data that is stored beside the log: fails if the key has been revoked; otherwise nobody can revoke it until the
-- transaction ends.
CREATE FUNCTION log.require_open_key(of_key integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM log.api_key WHERE id = of_key AND revoked_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the key has been revoked' USING ERRCODE = 'LH002';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.require_open_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.require_open_key TO bellwether_ingest;
