-- Why: two things remove events: retention, by whole months, and erasure, by install. Removed events must not come
-- back, from any node and however late. And readers of the log must know which events they will no longer find.

-- The erased installs. Events of theirs that occurred before `erased_at` are not accepted again.
CREATE TABLE log.erasure (
    app integer NOT NULL REFERENCES log.app,
    install_id uuid NOT NULL,
    erased_at timestamptz NOT NULL,
    -- The value of log.head.history after this decision, so that writers read only the decisions that are new to them.
    history integer NOT NULL,
    -- The number of its batch: an erasure is a batch without events.
    number bigint NOT NULL,
    -- NULL until all of its events are gone.
    finished_at timestamptz,
    -- What this database has removed of it, all times together: a receipt stays right if the erasure was interrupted.
    events bigint NOT NULL DEFAULT 0,
    deliveries bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    client_drops bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (app, install_id)
);
CREATE INDEX erasure_history ON log.erasure (history);

-- How many rows a batch has lost or (with a month) will have lost once that month's partition is dropped. Rows of
-- `log.batch` never change.
CREATE TABLE log.batch_loss (
    batch_id bigint NOT NULL,
    shard smallint NOT NULL,
    events integer NOT NULL CHECK (events >= 0),
    month date,
    UNIQUE NULLS NOT DISTINCT (batch_id, shard, month)
);

-- Closes a month: no event of it is accepted from now on. Returns a position after which the log has no event of that
-- month. If one came after position `looked_at`, nothing is closed and the result is NULL. If `looked_at` is NULL, new
-- events do not keep the month open.
CREATE FUNCTION log.close_month(of_month date, looked_at bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place log.partition;
    head bigint;
    holds boolean := looked_at IS NOT NULL;  -- whether new events keep it open
    has_news boolean;
    news text := 'SELECT EXISTS (SELECT FROM log.batch AS b JOIN log.%I AS e ON e.batch_id = b.id
        WHERE b.number > $1 AND b.number <= $2)';
BEGIN
    -- Lock this before the head, or writers would wait while another process creates a month.
    LOCK TABLE log.partition IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO place FROM log.partition WHERE month = of_month;
    IF place.month IS NULL THEN
        RAISE EXCEPTION 'month % has no partition', of_month USING ERRCODE = 'undefined_table';
    END IF;
    head := (SELECT coalesce(max(number), 0) FROM log.batch);
    IF place.closed_at IS NOT NULL THEN
        RETURN head;
    END IF;
    -- Look first without locking the head, which makes writers wait; then look at what came in the meantime.
    EXECUTE format(news, place.name) INTO has_news USING looked_at, head;
    IF has_news THEN
        RETURN NULL;
    END IF;
    PERFORM log.raise_history();
    looked_at := CASE WHEN holds THEN head END;
    head := (SELECT coalesce(max(number), 0) FROM log.batch);
    EXECUTE format(news, place.name) INTO has_news USING looked_at, head;
    IF has_news THEN
        RETURN NULL;
    END IF;
    UPDATE log.partition SET closed_at = clock_timestamp() WHERE month = of_month;
    RETURN head;
END
$$;
REVOKE ALL ON FUNCTION log.close_month FROM PUBLIC;

-- Records how many rows the batches lose with a closed month. This is done once; later erasures keep the counts up to
-- date.
CREATE FUNCTION log.count_month(of_month date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place log.partition;
BEGIN
    -- Erasure takes the same lock, so that exactly one of the two counts each event.
    LOCK TABLE log.batch_loss IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO place FROM log.partition WHERE month = of_month;
    IF place.closed_at IS NULL THEN
        RAISE EXCEPTION 'month % has not been closed', of_month USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF place.counted_at IS NULL THEN
        EXECUTE format('INSERT INTO log.batch_loss (batch_id, shard, events, month)
            SELECT batch_id, codes >> 4 & 63, count(*), $1 FROM log.%I GROUP BY 1, 2', place.name) USING of_month;
        UPDATE log.partition SET counted_at = clock_timestamp() WHERE month = of_month;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.count_month FROM PUBLIC;

-- Drops the partition of a closed month whose losses are recorded. Like creating one, it gives up soon if readers are
-- in the way.
CREATE FUNCTION log.drop_month(of_month date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms'
AS $$
DECLARE
    place log.partition;
BEGIN
    LOCK TABLE log.partition IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO place FROM log.partition WHERE month = of_month;
    IF place.counted_at IS NULL THEN
        RAISE EXCEPTION 'the losses of month % have not been recorded', of_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF place.dropped_at IS NULL THEN
        EXECUTE format('DROP TABLE log.%I', place.name);
        UPDATE log.partition SET dropped_at = clock_timestamp() WHERE month = of_month;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION log.drop_month FROM PUBLIC;

-- Starts an erasure: earlier events of this install are no longer accepted. The erasure gets a batch number of its own.
CREATE FUNCTION log.begin_erasure(of_app integer, of_install uuid, OUT number bigint, OUT erased_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    raised integer := log.raise_history();
    present timestamptz := clock_timestamp();
    next bigint := (SELECT coalesce(max(b.number), 0) + 1 FROM log.batch AS b);
BEGIN
    INSERT INTO log.batch (number, id, node, events, shard_events)
    SELECT next, nextval('log.batch_id'), 'erase', 0, array_fill(0, ARRAY[shards::integer]) FROM log.head;
    -- The moment never moves back, although the clock may have been set back, and an earlier erasure may have had to
    -- move it past events that were ahead of the clock.
    INSERT INTO log.erasure AS e (app, install_id, erased_at, history, number)
    VALUES (of_app, of_install, present, raised, next)
    ON CONFLICT (app, install_id) DO UPDATE
    SET erased_at = greatest(e.erased_at, excluded.erased_at), history = excluded.history, number = excluded.number,
        finished_at = NULL;
    SELECT e.number, e.erased_at INTO begin_erasure.number, begin_erasure.erased_at
    FROM log.erasure AS e WHERE e.app = of_app AND e.install_id = of_install;
END
$$;
REVOKE ALL ON FUNCTION log.begin_erasure FROM PUBLIC;

-- A transaction that stores an event beside another one with the same hash holds this lock until it ends. Otherwise
-- erasure could reassign ties without seeing the new event. Erasure locks the same table first.
CREATE FUNCTION log.hold_ties() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE log.batch_loss IN ROW EXCLUSIVE MODE;
END
$$;
REVOKE ALL ON FUNCTION log.hold_ties FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.hold_ties TO bellwether_ingest;

-- Gives tie 0 to the next event with the same time and hash if the event that had it is gone. Writers always try tie 0
-- first, so it must not be free while another tie is taken. The caller must have opened the gate, and hold a lock that
-- `log.hold_ties` waits for.
CREATE FUNCTION log.settle_ties(times timestamptz[], hashes bigint[]) RETURNS void
-- Always use the unique index, whatever the statistics say.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    UPDATE log.event AS e SET codes = e.codes & -16
    FROM unnest(times, hashes) AS f (device_at, hash)
    CROSS JOIN LATERAL (
        SELECT o.tableoid, o.ctid, o.codes FROM log.event AS o
        WHERE o.device_at = f.device_at
            AND ((uuid_hash_extended(o.event_id, uuid_hash_extended(o.install_id, o.app::bigint)) & -16)
                | (o.codes & 15)::bigint) BETWEEN f.hash AND f.hash | 15
        ORDER BY o.codes & 15 LIMIT 1
    ) AS first
    WHERE e.device_at = f.device_at AND e.tableoid = first.tableoid AND e.ctid = first.ctid AND first.codes & 15 > 0;
END
$$;
REVOKE ALL ON FUNCTION log.settle_ties FROM PUBLIC;

-- Deletes the events of an install and returns how many of each month. pg_temp.erasure_event lists those up to position
-- `found_until`; events that came later are added to it first. The Firebase installation ids that the events name are
-- remembered as hashes, so that the matching rows of FCM's export are erased, too.
CREATE FUNCTION log.erase_events(of_app integer, of_install uuid, found_until bigint)
RETURNS TABLE (month date, events bigint)
-- Always use the unique index, whatever the statistics say. Copies are found by sorting: clients choose ids, and can
-- make any number of them that PostgreSQL gives one hash.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_hashagg = off
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
        SELECT e.device_at, coalesce(e.occurred_at, e.device_at), e.batch_id, e.event_id, e.notification_key, e.fid
        FROM log.batch AS b
        JOIN log.event AS e ON e.batch_id = b.id AND e.device_at BETWEEN b.least_device_at AND b.greatest_device_at
        WHERE b.number > found_until AND b.number <= head AND e.app = of_app AND e.install_id = of_install;
        found_until := head;
        PERFORM log.open_gate();
        FOR gone IN
            WITH gone AS (
                DELETE FROM log.event AS e USING (
                    SELECT DISTINCT device_at, event_id,
                        uuid_hash_extended(event_id, uuid_hash_extended(of_install, of_app::bigint)) & -16 AS hash
                    FROM pg_temp.erasure_event
                ) AS f
                WHERE e.device_at = f.device_at
                    AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                        | (e.codes & 15)::bigint) BETWEEN f.hash AND f.hash | 15
                    AND e.event_id = f.event_id AND e.install_id = of_install AND e.app = of_app
                RETURNING e.batch_id, (e.codes >> 4 & 63)::smallint AS shard,
                    coalesce(e.occurred_at, e.device_at) AS occurred_at,
                    date_trunc('month', e.device_at AT TIME ZONE 'UTC')::date AS month
            ), by_batch AS (
                SELECT batch_id, shard, month, count(*)::integer AS events FROM gone GROUP BY batch_id, shard, month
            ), erased AS (
                INSERT INTO log.batch_loss AS l (batch_id, shard, events, month)
                SELECT batch_id, shard, sum(events), NULL FROM by_batch GROUP BY batch_id, shard
                ON CONFLICT (batch_id, shard, month) DO UPDATE SET events = l.events + excluded.events
            ), uncounted AS (
                -- Losses counted for a month no longer include these events: they are gone before the month is dropped.
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
        PERFORM log.settle_ties(array_agg(f.device_at), array_agg(f.hash))
        FROM (
            SELECT DISTINCT device_at,
                uuid_hash_extended(event_id, uuid_hash_extended(of_install, of_app::bigint)) & -16 AS hash
            FROM pg_temp.erasure_event
        ) AS f;
        PERFORM set_config('bellwether.gate', '', true);
        -- An erased event may have been a little ahead of the clock, and it must not come back either: so the moment of
        -- erasure moves past it, and events that arrived until then are deleted, too.
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
REVOKE ALL ON FUNCTION log.erase_events FROM PUBLIC;

-- Deletes the next `most` events listed in pg_temp.stray_event, in the order of `place`, and records the losses of
-- their batches. Returns how many were deleted, or NULL when the list is empty. An event that has moved to its month's
-- partition stays there.
CREATE FUNCTION log.drop_strays(most bigint) RETURNS bigint
-- Always use the unique index, whatever the statistics say. Copies are found by sorting: clients choose ids, and can
-- make any number of them that PostgreSQL gives one hash.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
    SET enable_hashagg = off
AS $$
DECLARE
    last bigint := (SELECT max(place) FROM (SELECT place FROM pg_temp.stray_event ORDER BY place LIMIT most) AS some_rows);
    dropped bigint;
BEGIN
    IF last IS NULL THEN
        RETURN NULL;
    END IF;
    LOCK TABLE log.batch_loss IN SHARE ROW EXCLUSIVE MODE;
    PERFORM log.open_gate();
    WITH gone AS (
        DELETE FROM log.event_elsewhere AS e USING pg_temp.stray_event AS f
        WHERE f.place <= last AND e.device_at = f.device_at
            AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                | (e.codes & 15)::bigint) BETWEEN f.hash AND f.hash | 15
            AND e.event_id = f.event_id AND e.install_id = f.install_id AND e.app = f.app
        RETURNING e.batch_id, (e.codes >> 4 & 63)::smallint AS shard
    ), lost AS (
        INSERT INTO log.batch_loss AS l (batch_id, shard, events, month)
        SELECT batch_id, shard, count(*), NULL FROM gone GROUP BY batch_id, shard
        ON CONFLICT (batch_id, shard, month) DO UPDATE SET events = l.events + excluded.events
    )
    SELECT count(*) INTO dropped FROM gone;
    PERFORM log.settle_ties(array_agg(f.device_at), array_agg(f.hash))
    FROM (SELECT DISTINCT device_at, hash FROM pg_temp.stray_event WHERE place <= last) AS f;
    PERFORM set_config('bellwether.gate', '', true);
    DELETE FROM pg_temp.stray_event WHERE place <= last;
    RETURN dropped;
END
$$;
REVOKE ALL ON FUNCTION log.drop_strays FROM PUBLIC;

-- Erasures that an app's own servers have asked for, in the first cell of a cluster. Only the owner performs them.
-- Ingestion cannot write here: it can only pass on what comes with a server key.
CREATE TABLE log.erasure_request (
    app integer NOT NULL REFERENCES log.app,
    install_id uuid NOT NULL,
    key integer NOT NULL REFERENCES log.api_key,
    requested_at timestamptz NOT NULL,
    -- The last attempt that failed, and why.
    tried_at timestamptz,
    fault text,
    -- NULL until it is done; then there is a receipt, as JSON.
    finished_at timestamptz,
    receipt text CHECK ((receipt IS NULL) = (finished_at IS NULL)),
    -- When somebody first read the receipt.
    told_at timestamptz,
    PRIMARY KEY (app, install_id)
);
-- Finds those that wait, and when an app last had its turn.
CREATE INDEX erasure_request_turn ON log.erasure_request (app, finished_at);
GRANT SELECT (app, requested_at, finished_at, fault) ON log.erasure_request TO bellwether_projector;

-- Asks for the erasure of an install, or for what became of it. `proof` shows that the caller has the server key: the
-- login of ingestion alone can erase nothing. The state is 'waiting', 'erased' (then there is a receipt) or 'full' (too
-- many of this app wait).
--
-- Asking again is harmless. Whoever waits reads the receipt when they next ask, however late; it is repeated for an
-- hour, in case an answer was lost. After that the install is erased again, with all that it has sent since.
CREATE FUNCTION log.request_erasure(
    of_key integer, proof bytea, of_install uuid, OUT state text, OUT requested_at timestamptz, OUT receipt text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    of_app integer;
    known log.erasure_request;
    present timestamptz := clock_timestamp();
    most constant integer := 1000;
BEGIN
    PERFORM log.require_open_key(of_key);
    SELECT app INTO of_app FROM log.api_key WHERE id = of_key AND kind = 'server' AND erasure_hash = sha256(proof);
    IF of_app IS NULL THEN
        RAISE EXCEPTION 'this is not the proof of a server key' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT * INTO known FROM log.erasure_request AS r WHERE r.app = of_app AND r.install_id = of_install;
    IF known.finished_at IS NOT NULL AND (known.told_at IS NULL OR known.told_at > present - interval '1 hour') THEN
        UPDATE log.erasure_request AS r SET told_at = present
        WHERE r.app = of_app AND r.install_id = of_install AND r.told_at IS NULL;
        state := 'erased';
        requested_at := known.requested_at;
        receipt := known.receipt;
        RETURN;
    END IF;
    IF known.app IS NULL OR known.finished_at IS NOT NULL THEN
        IF most <= (
            SELECT count(*) FROM (
                SELECT FROM log.erasure_request AS r WHERE r.app = of_app AND r.finished_at IS NULL LIMIT most) AS waiting)
        THEN
            state := 'full';
            RETURN;
        END IF;
        INSERT INTO log.erasure_request AS r (app, install_id, key, requested_at) VALUES (of_app, of_install, of_key, present)
        ON CONFLICT (app, install_id) DO UPDATE
        SET key = excluded.key, requested_at = excluded.requested_at, tried_at = NULL, fault = NULL, finished_at = NULL,
            receipt = NULL, told_at = NULL
        WHERE r.finished_at IS NOT NULL;
        known.requested_at := present;
    END IF;
    state := 'waiting';
    requested_at := known.requested_at;
END
$$;
REVOKE ALL ON FUNCTION log.request_erasure FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.request_erasure TO bellwether_ingest;

GRANT SELECT ON log.erasure TO bellwether_ingest;
GRANT SELECT ON log.batch_loss TO bellwether_projector;
