-- Why: a shard moves from one cell of a cluster to another while events come in. Its events are copied batch by batch,
-- each with all it says; words get the ids of the new cell. What retention has sealed cannot be counted again and is
-- copied as it is. Afterwards the old cell forgets the shard.

-- In the new cell: how far the copy has come.
CREATE TABLE cluster.arrival (
    shard smallint PRIMARY KEY,
    source smallint NOT NULL,
    -- The last batch of the old cell whose events are here, and how many events that makes.
    position bigint NOT NULL DEFAULT 0,
    events bigint NOT NULL DEFAULT 0,
    -- The head of this cell when the copy was complete: later events of the shard were sent here.
    complete_at bigint
);

-- Whoever moves shards may stand still for long, and somebody else goes on meanwhile or goes back. So each change of a
-- move asks this in its transaction: by the map, these shards must come here, or go from here. The map then stays as it
-- is until the commit.
CREATE FUNCTION cluster.require_move(moved smallint[], is_coming boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM cluster.state FOR SHARE;
    IF EXISTS (
        SELECT FROM cluster.map AS m, cluster.state AS s
        WHERE m.shard = ANY (moved) AND CASE WHEN is_coming THEN m.arriving IS DISTINCT FROM s.cell
            ELSE m.cell = s.cell OR m.leaving IS DISTINCT FROM s.cell END) THEN
        RAISE EXCEPTION 'somebody else has moved these shards meanwhile'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'See bellwether cluster status, then try again.';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cluster.require_move FROM PUBLIC;

-- Why a database cannot take a map: it has copies of shards that are elsewhere by that map (`surplus`; a copy was
-- `whole` if this was the cell of the shard), or the map says that it has shards which never came to it whole
-- (`missing`). Each step of a move tells both cells before the next one begins, so such a database was restored from a
-- backup that is older than the move. A database without a map was restored from before it joined, or is an empty one
-- in the place of the cell: of what it has events, it has all that there was.
CREATE FUNCTION cluster.compare_map(
    own smallint, holders smallint[], homes smallint[], arriving smallint[], leaving smallint[],
    OUT surplus smallint[], OUT whole smallint[], OUT missing smallint[]
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    WITH had AS (
        SELECT m.shard, own IN (m.cell, m.home, m.arriving, m.leaving) AS part, own IN (m.cell, m.home) AS whole FROM cluster.map AS m
        UNION ALL
        SELECT s.shard::smallint, f.found, f.found
        FROM generate_series(0, cardinality(holders) - 1) AS s (shard)
        CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM log.batch AS b WHERE b.shard_events[s.shard + 1] > 0) AS found) AS f
        WHERE NOT EXISTS (SELECT FROM cluster.map)
    )
    SELECT coalesce(array_agg(m.shard ORDER BY m.shard) FILTER (
            WHERE m.part AND (own IN (n.cell, n.home, n.arriving, n.leaving)) IS NOT TRUE), '{}'),
        coalesce(array_agg(m.shard ORDER BY m.shard) FILTER (WHERE m.whole), '{}'),
        coalesce(array_agg(m.shard ORDER BY m.shard) FILTER (
            WHERE (own IN (n.cell, n.home)) AND m.whole IS NOT TRUE AND NOT EXISTS (
                SELECT FROM cluster.arrival AS a WHERE a.shard = m.shard AND a.complete_at IS NOT NULL)), '{}')
    FROM had AS m
    JOIN unnest(holders, homes, compare_map.arriving, compare_map.leaving) WITH ORDINALITY AS n (cell, home, arriving, leaving, place)
        ON n.place - 1 = m.shard
$$;
REVOKE ALL ON FUNCTION cluster.compare_map FROM PUBLIC;

-- Batches with the events of a moved shard say where these were before: the number of the cell, and its last batch that
-- is in them.
ALTER TABLE log.batch ADD COLUMN moved_from smallint, ADD COLUMN moved_until bigint;

-- Months of which a shard accepts no more events, because its former cell had removed them.
CREATE TABLE log.closed_before_move (
    shard smallint NOT NULL,
    month date NOT NULL CHECK (date_trunc('month', month) = month),
    PRIMARY KEY (shard, month)
);
GRANT SELECT ON log.closed_before_move TO bellwether_ingest;

-- Shards that a cell has forgotten: up to this batch it has no event of them any more.
CREATE TABLE log.forgotten (
    shard smallint PRIMARY KEY,
    until bigint NOT NULL
);

-- Retention and a move may not happen at the same time: what one seals, the other would not have copied. Both raise
-- log.head, so either this sees the move, or the move sees the closed month.
CREATE FUNCTION cluster.require_no_move() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM cluster.map WHERE home IS NOT NULL) THEN
        RAISE EXCEPTION 'a shard of the cluster is being moved, and this has to wait until that is finished'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'See bellwether cluster status.';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cluster.require_no_move FROM PUBLIC;

CREATE FUNCTION cluster.refuse_while_moving() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM cluster.require_no_move();
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION cluster.refuse_while_moving FROM PUBLIC;
CREATE TRIGGER not_while_moving BEFORE UPDATE OF closed_at ON log.partition
    FOR EACH ROW WHEN (NEW.closed_at IS NOT NULL AND OLD.closed_at IS NULL) EXECUTE FUNCTION cluster.refuse_while_moving();

-- Takes the words in pg_temp.brought_word and notes their ids here in pg_temp.word_map. A word that is new here keeps
-- the time, key and install that brought it, and counts as the word that it was merged into. `old` is its id in the
-- other cell.
CREATE FUNCTION cluster.take_words() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    INSERT INTO log.dictionary (app) SELECT DISTINCT app FROM pg_temp.brought_word ORDER BY app ON CONFLICT DO NOTHING;
    PERFORM FROM log.dictionary WHERE app IN (SELECT app FROM pg_temp.brought_word) ORDER BY app FOR SHARE;
    INSERT INTO log.word_count (app, kind) SELECT DISTINCT app, kind FROM pg_temp.brought_word ORDER BY app, kind
        ON CONFLICT DO NOTHING;
    FOR one IN SELECT DISTINCT app, kind FROM pg_temp.brought_word ORDER BY app, kind LOOP
        PERFORM FROM log.word_count WHERE app = one.app AND kind = one.kind FOR UPDATE;
        WITH added AS (
            INSERT INTO log.word (app, kind, value, sent, key, install_hash, learned_at)
            SELECT DISTINCT ON (b.sent) b.app, b.kind, b.sent, b.sent, b.key, b.install_hash, b.learned_at
            FROM (
                SELECT app, kind, sent, key, install_hash, learned_at, 0 AS rank FROM pg_temp.brought_word
                UNION ALL
                SELECT app, kind, target, key, install_hash, learned_at, 1 FROM pg_temp.brought_word
            ) AS b
            WHERE b.app = one.app AND b.kind = one.kind AND b.sent <> '(other)'
                AND NOT EXISTS (SELECT FROM log.word AS w WHERE w.app = b.app AND w.kind = b.kind AND w.sent = b.sent)
            ORDER BY b.sent, b.rank
            RETURNING id, sent
        ), counted AS (
            UPDATE log.word_count SET words = words + (SELECT count(*) FROM added) WHERE app = one.app AND kind = one.kind
        )
        UPDATE pg_temp.brought_word AS b SET is_new = true FROM added AS a
        WHERE b.app = one.app AND b.kind = one.kind AND b.sent = a.sent;
        PERFORM log.other_word(one.app, one.kind);
    END LOOP;
    UPDATE log.word AS w SET value = t.value, counts_as = coalesce(t.counts_as, t.id)
    FROM pg_temp.brought_word AS b
    JOIN log.word AS t ON t.app = b.app AND t.kind = b.kind AND t.sent = b.target
    WHERE b.is_new AND w.app = b.app AND w.kind = b.kind AND w.sent = b.sent AND coalesce(t.counts_as, t.id) <> w.id;
    INSERT INTO pg_temp.word_map (old, new)
    SELECT b.old, w.id FROM pg_temp.brought_word AS b
    JOIN log.word AS w ON w.app = b.app AND w.kind = b.kind AND w.sent = coalesce(b.sent, '(other)');
    DELETE FROM pg_temp.brought_word;
END
$$;
REVOKE ALL ON FUNCTION cluster.take_words FROM PUBLIC;

-- The ids here of the words in `members`, of which the first `words` are ids of words, and the others codes.
CREATE FUNCTION cluster.here(members integer[], words integer) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT array_agg(CASE WHEN m.place <= words AND m.id > 0 THEN map.new ELSE m.id END ORDER BY m.place)
        FROM unnest(members) WITH ORDINALITY AS m (id, place)
        LEFT JOIN pg_temp.word_map AS map ON map.old = m.id AND m.place <= words);
END
$$;
REVOKE ALL ON FUNCTION cluster.here FROM PUBLIC;

-- Takes the devices or contexts in pg_temp.brought_combination and notes their ids here in pg_temp.device_map or
-- context_map.
CREATE FUNCTION cluster.take_combinations(dictionary text, words integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT app, array_agg(old ORDER BY old) AS old, max(cardinality(members)) AS width,
            array_agg(cluster.here(members, words) ORDER BY old) AS members
        FROM pg_temp.brought_combination GROUP BY app ORDER BY app
    LOOP
        EXECUTE format('INSERT INTO pg_temp.%I (old, new) SELECT ($1)[place], id
            FROM log.learn_combinations($2, $3, $4, $5, 2147483647)', dictionary || '_map')
            USING one.old, dictionary, one.app, one.width, (SELECT array_agg(m ORDER BY place)
                FROM unnest(one.members) WITH ORDINALITY AS flat (m, place));
    END LOOP;
    DELETE FROM pg_temp.brought_combination;
EXCEPTION WHEN not_null_violation THEN
    RAISE EXCEPTION 'words are being pruned at the same time' USING ERRCODE = 'serialization_failure';
END
$$;
REVOKE ALL ON FUNCTION cluster.take_combinations FROM PUBLIC;

-- Stores the events in pg_temp.arriving, whose words have ids of this database, as one batch, and returns its number
-- and how many events it has; none if nothing of them is to be stored. `expected` is the count of decisions
-- (log.head.history) that was known before the events were read, so that an erasure in between makes this fail.
CREATE FUNCTION cluster.store_arrivals(from_cell smallint, until bigint, expected integer, OUT number bigint, OUT events integer)
-- Always use the unique index, whatever the statistics say.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    new_id bigint := nextval('log.batch_id');
    first timestamptz;
    is_stored boolean := false;
    crowded record;
BEGIN
    -- An event whose time was clamped may be one that was erased.
    DELETE FROM pg_temp.arriving AS a USING log.erasure AS x
    WHERE x.app = a.app AND x.install_id = a.install_id
        AND (coalesce(a.occurred_at, a.device_at) < x.erased_at OR a.codes >> 15 & 3 = 2);
    SELECT min(a.received_at) INTO first FROM pg_temp.arriving AS a;
    IF NOT EXISTS (SELECT FROM pg_temp.arriving AS a WHERE a.codes & 15 > 0) THEN
        BEGIN
            PERFORM cluster.insert_arrivals(new_id, first);
            is_stored := true;
        EXCEPTION WHEN unique_violation THEN
        END;
    END IF;
    IF NOT is_stored THEN
        -- Another event has the same time and hash, or this one is here already.
        PERFORM log.hold_ties();
        DELETE FROM pg_temp.arriving AS a USING log.event AS e
        WHERE e.device_at = a.device_at
            AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                | (e.codes & 15)::bigint) BETWEEN a.hash AND a.hash | 15
            AND e.event_id = a.event_id AND e.install_id = a.install_id AND e.app = a.app;
        UPDATE pg_temp.arriving AS a SET codes = a.codes & -16 | t.tie
        FROM (
            SELECT r.place, (
                SELECT free.tie FROM generate_series(0, 15) AS free (tie)
                WHERE NOT EXISTS (
                    SELECT FROM log.event AS e
                    WHERE e.device_at = r.device_at
                        AND ((uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16)
                            | (e.codes & 15)::bigint) = r.hash | free.tie)
                ORDER BY free.tie OFFSET r.rank - 1 LIMIT 1
            ) AS tie
            FROM (
                SELECT place, device_at, hash, row_number() OVER (PARTITION BY device_at, hash ORDER BY codes & 15) AS rank
                FROM pg_temp.arriving
            ) AS r
        ) AS t
        WHERE t.place = a.place;
        SELECT app.slug, a.install_id, a.device_at INTO crowded
        FROM pg_temp.arriving AS a JOIN log.app AS app ON app.id = a.app WHERE a.codes IS NULL LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'an event of app % and install % at % cannot be moved: 16 others have this time and its hash',
                crowded.slug, crowded.install_id, crowded.device_at
                USING ERRCODE = 'program_limit_exceeded', HINT = 'Such events are made on purpose. Erase that install.';
        END IF;
        PERFORM cluster.insert_arrivals(new_id, first);
    END IF;
    PERFORM log.take_head(expected);
    INSERT INTO log.batch (
        number, id, node, events, received_at, shard_events, least_device_at, greatest_device_at, moved_from, moved_until)
    SELECT coalesce((SELECT b.number FROM log.batch AS b ORDER BY b.number DESC LIMIT 1), 0) + 1, new_id, 'move', c.events, first,
        (
            SELECT array_agg(coalesce(s.events, 0) ORDER BY shard)
            FROM log.head AS h CROSS JOIN generate_series(0, h.shards - 1) AS shard
            LEFT JOIN (SELECT codes >> 4 & 63 AS shard, count(*)::integer AS events FROM pg_temp.arriving GROUP BY 1) AS s USING (shard)
        ), c.least, c.greatest, from_cell, until
    FROM (
        SELECT count(*)::integer AS events, min(device_at) AS least, max(device_at) AS greatest FROM pg_temp.arriving
    ) AS c
    WHERE c.events > 0
    RETURNING number, events INTO store_arrivals.number, store_arrivals.events;
END
$$;
REVOKE ALL ON FUNCTION cluster.store_arrivals FROM PUBLIC;

CREATE FUNCTION cluster.insert_arrivals(of_batch bigint, first timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO log.event (
        batch_id, device_at, event_id, install_id, app, codes, device, context, seq, own, amount_1, amount_2, word_1, word_2, key,
        occurred_at, received_at, notification_sent_at, notification_key, delivery_id, notification_id, fid, fcm_suffix, rare, extra)
    SELECT of_batch, device_at, event_id, install_id, app, codes, device, context, seq, own, amount_1, amount_2, word_1, word_2, key,
        occurred_at, nullif(received_at, first), notification_sent_at, notification_key, delivery_id, notification_id, fid,
        fcm_suffix, rare, extra
    FROM pg_temp.arriving;
END
$$;
REVOKE ALL ON FUNCTION cluster.insert_arrivals FROM PUBLIC;

-- Keeps out of this cell what was erased in another one before: the moment never moves back.
CREATE FUNCTION cluster.take_erasures(apps integer[], installs uuid[], moments timestamptz[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    raised integer;
    next bigint;
BEGIN
    IF NOT EXISTS (
        SELECT FROM unnest(apps, installs, moments) AS a (app, install_id, erased_at)
        LEFT JOIN log.erasure AS e USING (app, install_id) WHERE e.erased_at IS NULL OR e.erased_at < a.erased_at) THEN
        RETURN;
    END IF;
    raised := log.raise_history();
    INSERT INTO log.batch (number, id, node, events, shard_events)
    SELECT (SELECT coalesce(max(b.number), 0) + 1 FROM log.batch AS b), nextval('log.batch_id'), 'erase', 0,
        array_fill(0, ARRAY[shards::integer]) FROM log.head
    RETURNING number INTO STRICT next;
    INSERT INTO log.erasure AS e (app, install_id, erased_at, history, number, finished_at)
    SELECT a.app, a.install_id, a.erased_at, raised, next, clock_timestamp()
    FROM unnest(apps, installs, moments) AS a (app, install_id, erased_at)
    ON CONFLICT (app, install_id) DO UPDATE
    SET erased_at = excluded.erased_at, history = excluded.history, number = excluded.number
    WHERE e.erased_at < excluded.erased_at;
END
$$;
REVOKE ALL ON FUNCTION cluster.take_erasures FROM PUBLIC;

-- Starts forgetting shards that another cell has: readers of the log see it as a batch without events. NULL if there is
-- nothing to forget.
CREATE FUNCTION cluster.begin_forgetting(gone smallint[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    new_number bigint;
BEGIN
    PERFORM cluster.require_move(gone, false);
    IF NOT EXISTS (
        SELECT FROM log.batch AS b, unnest(gone) AS s LEFT JOIN log.forgotten AS f ON f.shard = s
        WHERE b.shard_events[s + 1] > 0 AND b.number > coalesce(f.until, 0)) THEN
        RETURN NULL;
    END IF;
    PERFORM log.raise_history();
    INSERT INTO log.batch (number, id, node, events, shard_events)
    SELECT (SELECT coalesce(max(b.number), 0) + 1 FROM log.batch AS b), nextval('log.batch_id'), 'forget', 0,
        array_fill(0, ARRAY[shards::integer]) FROM log.head
    RETURNING number INTO STRICT new_number;
    INSERT INTO log.forgotten (shard, until) SELECT shard, 0 FROM unnest(gone) AS shard ON CONFLICT DO NOTHING;
    RETURN new_number;
END
$$;
REVOKE ALL ON FUNCTION cluster.begin_forgetting FROM PUBLIC;

-- Deletes the events of shards in the next batches after `since`, at most `most` of them unless one batch has more.
-- Returns the last of these batches, or NULL if there was none before `last`, and how many events are gone.
CREATE FUNCTION cluster.forget_some(gone smallint[], since bigint, last bigint, most bigint, OUT until bigint, OUT events bigint)
-- Always use the indexes, whatever the statistics say.
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    times timestamptz[];
    hashes bigint[];
BEGIN
    LOCK TABLE log.batch_loss IN SHARE ROW EXCLUSIVE MODE;
    SELECT max(b.number) INTO forget_some.until
    FROM (
        SELECT b.number, b.own, sum(b.own) OVER (ORDER BY b.number) AS total
        FROM (
            SELECT number, (SELECT sum(b.shard_events[s + 1]) FROM unnest(gone) AS s) AS own
            FROM log.batch AS b WHERE b.number > since AND b.number <= last ORDER BY b.number LIMIT 10000
        ) AS b
    ) AS b
    WHERE b.total <= most OR b.total = b.own;
    IF until IS NULL THEN
        RETURN;
    END IF;
    PERFORM log.open_gate();
    WITH gone_events AS (
        DELETE FROM log.event AS e USING log.batch AS b
        WHERE b.number > since AND b.number <= forget_some.until
            AND EXISTS (SELECT FROM unnest(gone) AS s WHERE b.shard_events[s + 1] > 0)
            AND e.batch_id = b.id AND e.device_at BETWEEN b.least_device_at AND b.greatest_device_at
            AND (e.codes >> 4 & 63)::smallint = ANY (gone)
        RETURNING e.device_at, uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16 AS hash
    )
    SELECT array_agg(device_at), array_agg(hash), count(*) INTO times, hashes, forget_some.events FROM gone_events;
    PERFORM log.settle_ties(times, hashes);
    -- What they lost before is part of what is lost now.
    DELETE FROM log.batch_loss AS l USING log.batch AS b
    WHERE b.number > since AND b.number <= forget_some.until AND l.batch_id = b.id AND l.shard = ANY (gone);
    PERFORM set_config('bellwether.gate', '', true);
    UPDATE log.forgotten AS f SET until = greatest(f.until, forget_some.until) WHERE f.shard = ANY (gone);
    PERFORM cluster.require_move(gone, false);
END
$$;
REVOKE ALL ON FUNCTION cluster.forget_some FROM PUBLIC;

-- Cells that leave the cluster, in its first cell, which then takes what they counted. Their numbers are never used
-- again.
CREATE TABLE cluster.former_cell (
    cell smallint PRIMARY KEY CHECK (cell > 0),
    name text NOT NULL,
    connection text NOT NULL,
    left_at timestamptz NOT NULL DEFAULT now(),
    -- When the first cell had all that this one counted.
    settled_at timestamptz
);

-- Takes what a cell that leaves has besides events, from pg_temp.left_tally, left_rejected and left_drop: once, as a
-- batch without events.
CREATE FUNCTION cluster.take_leftovers(of_cell smallint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    new_id bigint := nextval('log.batch_id');
BEGIN
    PERFORM log.raise_history();
    UPDATE cluster.former_cell SET settled_at = now() WHERE cell = of_cell AND settled_at IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO log.batch (number, id, node, events, shard_events)
    SELECT (SELECT coalesce(max(b.number), 0) + 1 FROM log.batch AS b), new_id, 'remove', 0,
        array_fill(0, ARRAY[shards::integer]) FROM log.head;
    INSERT INTO log.batch_tally (
        batch_id, app, key, received_quarter, accepted, duplicate, corrected, clamped, late, other, rejected)
    SELECT new_id, app, key, received_quarter, accepted, duplicate, corrected, clamped, late, other, rejected
    FROM pg_temp.left_tally;
    INSERT INTO log.rejected (
        batch_id, app, key, received_at, sent_at, install_id, event_id, reason, detail, source, raw, raw_hash, replayed_at)
    SELECT new_id, app, key, received_at, sent_at, install_id, event_id, reason, detail, source, raw, raw_hash, replayed_at
    FROM pg_temp.left_rejected
    ON CONFLICT DO NOTHING;
    INSERT INTO log.client_drop (app, id, batch_id, key, install_id, received_at, count, since, reason)
    SELECT app, id, new_id, key, install_id, received_at, count, since, reason FROM pg_temp.left_drop
    ON CONFLICT DO NOTHING;
END
$$;
REVOKE ALL ON FUNCTION cluster.take_leftovers FROM PUBLIC;

-- Removes from a former cell that comes back what the first cell took over: otherwise hubs would count it twice.
CREATE FUNCTION cluster.drop_leftovers() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM log.batch_expected AS b, unnest(b.shard_events) AS s (events) WHERE s.events > 0) THEN
        RAISE EXCEPTION 'this database has events, so it is not as it was when it left the cluster: add an empty one'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM log.open_gate();
    DELETE FROM log.batch_tally;
    DELETE FROM log.rejected;
    DELETE FROM log.client_drop;
    PERFORM set_config('bellwether.gate', '', true);
END
$$;
REVOKE ALL ON FUNCTION cluster.drop_leftovers FROM PUBLIC;
