-- Why: events repeat the same few thousand names, mostly in the same combinations. As small numbers these take a third
-- of the bytes. The dictionary of each app is bounded, or one broken client could fill the disk with words. A word for
-- which there is no room counts as the reserved word (other), and the event keeps the original word in `extra`.
CREATE TABLE log.word (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    -- The word that views show: the one that clients send, or the one it was merged into.
    value text NOT NULL,
    -- The word as clients send it. NULL after pruning: the id then stands for (other), and if clients send the word
    -- again, it is learned under a new id.
    sent text,
    -- The word that it was merged into; NULL for a word that counts as itself.
    counts_as integer REFERENCES log.word,
    -- The key and install that brought the word. Quotas count by them, and an owner can prune by key; NULL for (other).
    -- Only a 32-bit hash of the install is kept: enough to tell most installs apart, but too short to identify one.
    -- Installs with one hash share a quota. That gives nobody anything: who makes ids with one hash takes from a quota
    -- of their own, and to take from another install's they would need its id, and could as well write under it.
    key integer,
    install_hash integer,
    learned_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (app, kind, sent)
);
-- Finds the words of registered names. It begins with the word: without statistics PostgreSQL took an index that begins
-- with (app, kind), like the unique one, for as good as that for finding a word that was sent, and read all words of
-- the kind.
CREATE INDEX word_by_value ON log.word (value, kind, app);
CREATE INDEX word_by_time ON log.word (app, learned_at) INCLUDE (key, install_hash);
-- Few words are merged, and readers of events look up only those.
CREATE INDEX word_merged ON log.word (id) INCLUDE (counts_as) WHERE counts_as IS NOT NULL;

-- How many words each app has of each kind. Adding a word locks its row.
CREATE TABLE log.word_count (
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    words integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, kind)
);

-- One row for the dictionary of each app, used as a lock: processes that learn words share it, pruning takes it alone.
CREATE TABLE log.dictionary (
    app integer PRIMARY KEY REFERENCES log.app
);

-- Returns the id of the reserved word (other), which stands for every word that was not learned. It does not count
-- towards the limit on words.
CREATE FUNCTION log.other_word(of_app integer, of_kind smallint) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO log.word (app, kind, value, sent)
    SELECT of_app, of_kind, '(other)', '(other)'
    -- ON CONFLICT alone would use up an id with each call.
    WHERE NOT EXISTS (SELECT FROM log.word WHERE app = of_app AND kind = of_kind AND sent = '(other)')
    ON CONFLICT DO NOTHING;
    SELECT id FROM log.word WHERE app = of_app AND kind = of_kind AND sent = '(other)';
$$;
REVOKE ALL ON FUNCTION log.other_word FROM PUBLIC;

-- Returns the ids of these words of one app and kind, in the given order; NULL for an unknown word.
CREATE FUNCTION log.word_ids(of_app integer, of_kind smallint, asked_values text[]) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(w.id ORDER BY asked.place)
    FROM unnest(asked_values) WITH ORDINALITY AS asked (value, place)
    -- LIMIT forces the plan: one index look-up for each word.
    LEFT JOIN LATERAL (
        SELECT w.id FROM log.word AS w WHERE w.app = of_app AND w.kind = of_kind AND w.sent = asked.value LIMIT 1
    ) AS w ON true;
$$;
REVOKE ALL ON FUNCTION log.word_ids FROM PUBLIC;

-- Returns the ids of these words of one app and kind. `of_keys` and `of_installs` say which key and install bring each
-- word. A new word is learned if there is room, and if neither its install nor its key has exceeded its hourly quota of
-- new words (words of all kinds together). Otherwise it gets the id of the reserved word. Commit before using an id: if
-- the transaction is rolled back, the id points to nothing.
CREATE FUNCTION log.learn_words(
    of_app integer, of_kind smallint, new_values text[], of_keys integer[], of_installs uuid[], most integer,
    most_of_install integer, most_of_key integer)
RETURNS TABLE (value text, id integer, is_other boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ids integer[] := log.word_ids(of_app, of_kind, new_values);
    room integer;
    added integer;
    other integer;
BEGIN
    -- Usually the log knows all words and only the calling process does not. That needs no lock.
    IF array_position(ids, NULL) IS NOT NULL THEN
        -- ON CONFLICT alone would wait for a running prune.
        INSERT INTO log.dictionary SELECT of_app WHERE NOT EXISTS (SELECT FROM log.dictionary WHERE app = of_app)
            ON CONFLICT DO NOTHING;
        INSERT INTO log.word_count (app, kind)
            SELECT of_app, of_kind WHERE NOT EXISTS (SELECT FROM log.word_count WHERE app = of_app AND kind = of_kind)
            ON CONFLICT DO NOTHING;
        -- A full dictionary or a used-up quota stays so for a long time, so this check takes no lock.
        SELECT most - words INTO room FROM log.word_count
        WHERE app = of_app AND kind = of_kind AND EXISTS (
            SELECT FROM (SELECT DISTINCT asked.key FROM unnest(of_keys, ids) AS asked (key, id) WHERE asked.id IS NULL) AS k
            WHERE most_of_key > (
                SELECT count(*) FROM log.word AS w
                WHERE w.app = of_app AND w.key = k.key AND w.learned_at > now() - interval '1 hour'));
        IF room > 0 THEN
            -- Other learners hold this lock only briefly. A prune takes longer, and events of all apps would wait for
            -- it: so nothing is learned while one runs.
            PERFORM FROM log.dictionary WHERE app = of_app FOR SHARE SKIP LOCKED;
            IF FOUND THEN
                SELECT most - words INTO room FROM log.word_count WHERE app = of_app AND kind = of_kind FOR UPDATE;
            ELSE
                room := 0;
            END IF;
        END IF;
        IF room > 0 THEN
            -- Whoever had the lock before may have learned some of them. From here on nobody else adds a word of this
            -- kind.
            ids := log.word_ids(of_app, of_kind, new_values);
            -- No joins: they would go by statistics, which a new table has not, and compare every word with every
            -- other.
            WITH unknown AS MATERIALIZED (
                SELECT DISTINCT ON (asked.value) asked.value, asked.key, uuid_hash(asked.install_id) AS install_hash
                FROM unnest(new_values, of_keys, of_installs, ids) WITH ORDINALITY
                    AS asked (value, key, install_id, id, place)
                WHERE asked.id IS NULL AND asked.value <> '(other)'
                ORDER BY asked.value, asked.place
            ), taught AS MATERIALIZED (
                SELECT w.key, w.install_hash FROM log.word AS w
                WHERE w.app = of_app AND w.learned_at > now() - interval '1 hour'
            ), of_install AS (
                -- A row without a value is what its install has taught within the hour, and counts before the new ones.
                SELECT a.*, sum(a.words) OVER (PARTITION BY a.install_hash ORDER BY a.value NULLS FIRST) AS place
                FROM (
                    SELECT u.value, u.key, u.install_hash, 1 AS words FROM unknown AS u
                    UNION ALL
                    SELECT NULL, NULL, c.install_hash, sum(c.words) FROM (
                        SELECT t.install_hash, 1 AS words FROM taught AS t
                        UNION ALL SELECT u.install_hash, 0 FROM unknown AS u
                    ) AS c
                    GROUP BY c.install_hash HAVING min(c.words) = 0
                ) AS a
            ), of_key AS (
                SELECT a.*, sum(a.words) OVER (PARTITION BY a.key ORDER BY a.value NULLS FIRST) AS place
                FROM (
                    SELECT i.value, i.key, i.install_hash, 1 AS words FROM of_install AS i
                    WHERE i.value IS NOT NULL AND i.place <= most_of_install
                    UNION ALL SELECT NULL, t.key, NULL, count(*) FROM taught AS t GROUP BY t.key
                ) AS a
            )
            INSERT INTO log.word (app, kind, value, sent, key, install_hash)
            SELECT of_app, of_kind, k.value, k.value, k.key, k.install_hash
            FROM of_key AS k
            WHERE k.value IS NOT NULL AND k.place <= most_of_key
            ORDER BY k.value
            LIMIT greatest(room, 0);
            GET DIAGNOSTICS added = ROW_COUNT;
            IF added > 0 THEN
                UPDATE log.word_count SET words = words + added WHERE app = of_app AND kind = of_kind;
            END IF;
        END IF;
        -- Another process may have added some of them in the meantime, even if there is no room now.
        ids := log.word_ids(of_app, of_kind, new_values);
        IF array_position(ids, NULL) IS NOT NULL THEN other := log.other_word(of_app, of_kind); END IF;
    END IF;
    RETURN QUERY
    SELECT asked.value, coalesce(asked.id, other), asked.id IS NULL AND asked.value <> '(other)'
    FROM unnest(new_values, ids) AS asked (value, id);
END
$$;

REVOKE ALL ON FUNCTION log.learn_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.learn_words TO bellwether_ingest;
GRANT SELECT ON log.word TO bellwether_ingest;

-- Combinations that many events share: the device an install runs on, and the words of a notification. An event stores
-- the id of one row of each. The columns are ids of log.word, 0 for none; codes count from 1.
CREATE TABLE log.device (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    platform integer NOT NULL,
    app_version integer NOT NULL,
    os_version integer NOT NULL,
    sdk integer NOT NULL,
    device_model integer NOT NULL,
    locale integer NOT NULL,
    time_zone integer NOT NULL,
    -- 1 authorized, 2 provisional, 3 ephemeral, 4 denied, 5 not determined
    "authorization" integer NOT NULL,
    -- 1 always, 2 when authenticated, 3 never
    show_previews integer NOT NULL,
    -- 1 on, 2 off, 3 unsupported
    setting_alerts integer NOT NULL,
    setting_lock_screen integer NOT NULL,
    setting_notification_center integer NOT NULL,
    setting_sounds integer NOT NULL,
    setting_badges integer NOT NULL,
    setting_time_sensitive integer NOT NULL,
    setting_scheduled_summary integer NOT NULL,
    UNIQUE (app, platform, app_version, os_version, sdk, device_model, locale, time_zone, "authorization", show_previews,
        setting_alerts, setting_lock_screen, setting_notification_center, setting_sounds, setting_badges,
        setting_time_sensitive, setting_scheduled_summary)
);

CREATE TABLE log.context (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    category integer NOT NULL,
    thread integer NOT NULL,
    campaign integer NOT NULL,
    variant integer NOT NULL,
    analytics_label integer NOT NULL,
    topic integer NOT NULL,
    interruption_level integer NOT NULL,
    UNIQUE (app, category, thread, campaign, variant, analytics_label, topic, interruption_level)
);

-- How many combinations each app has of each kind. Adding one locks its row.
CREATE TABLE log.combination_count (
    app integer NOT NULL REFERENCES log.app,
    dictionary text NOT NULL CHECK (dictionary IN ('device', 'context')),
    combinations integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, dictionary)
);

-- Returns the ids of these combinations in log.device or log.context. `members` holds `width` ids for each one, in the
-- order of the table's columns. New ones are added while there is room; without room the id is NULL. As for words,
-- commit before using an id.
CREATE FUNCTION log.learn_combinations(dictionary text, of_app integer, width integer, members integer[], most integer)
RETURNS TABLE (place integer, id integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    columns text;
    picked text;
    rows text := format('generate_series(1, %s) AS r (place)', cardinality(members) / width);
    known text;
    room integer;
    added integer;
BEGIN
    IF dictionary IS NULL OR dictionary NOT IN ('device', 'context') THEN
        RAISE EXCEPTION '% is not a dictionary of combinations', dictionary USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
        -- An older program does not know the newest columns.
        string_agg(CASE WHEN a.attnum - 2 <= width THEN format('$2[(r.place - 1) * %s + %s]', width, a.attnum - 2) ELSE '0' END,
            ', ' ORDER BY a.attnum)
    INTO STRICT columns, picked
    FROM pg_attribute AS a
    WHERE a.attrelid = ('log.' || dictionary)::regclass AND a.attnum > 2 AND NOT a.attisdropped;
    known := format('SELECT d.id FROM log.%I AS d WHERE (d.app, d.%s) = ($1, %s)', dictionary,
        replace(columns, ', ', ', d.'), picked);
    -- Usually the log knows all of them and only the calling process does not. That needs no lock.
    EXECUTE format('SELECT count(*) FROM %s WHERE NOT EXISTS (%s)', rows, known)
        INTO added USING of_app, members;
    IF added > 0 THEN
        INSERT INTO log.dictionary SELECT of_app WHERE NOT EXISTS (SELECT FROM log.dictionary AS d WHERE d.app = of_app)
            ON CONFLICT DO NOTHING;
        INSERT INTO log.combination_count (app, dictionary)
            SELECT of_app, learn_combinations.dictionary WHERE NOT EXISTS (
                SELECT FROM log.combination_count AS c
                WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary)
            ON CONFLICT DO NOTHING;
        -- As for words: take no lock if there is no room, and add nothing while a prune runs.
        SELECT most - c.combinations INTO room FROM log.combination_count AS c
        WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary;
        IF room > 0 THEN
            PERFORM FROM log.dictionary AS d WHERE d.app = of_app FOR SHARE SKIP LOCKED;
            IF FOUND THEN
                SELECT most - c.combinations INTO room FROM log.combination_count AS c
                WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary FOR UPDATE;
            ELSE
                room := 0;
            END IF;
        END IF;
        IF room > 0 THEN
            EXECUTE format('INSERT INTO log.%I (app, %s)
                SELECT DISTINCT $1, %s FROM %s WHERE NOT EXISTS (%s) LIMIT $3',
                dictionary, columns, picked, rows, known) USING of_app, members, room;
            GET DIAGNOSTICS added = ROW_COUNT;
            IF added > 0 THEN
                UPDATE log.combination_count AS c SET combinations = c.combinations + added
                WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary;
            END IF;
        END IF;
    END IF;
    RETURN QUERY EXECUTE format('SELECT r.place, (%s) FROM %s', known, rows)
        USING of_app, members;
END
$$;

REVOKE ALL ON FUNCTION log.learn_combinations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.learn_combinations TO bellwether_ingest;
