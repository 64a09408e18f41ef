-- Why: the same few thousand names stand in every event, and mostly in the same combinations. As small numbers they are a
-- third of the bytes. All of it is bounded for each app, or one broken client would fill the disk with words: what finds no
-- room counts as the reserved word (other), and the event says in its extra what it was.
CREATE TABLE log.word (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    -- As it is shown: as it was sent, or as the word that it was merged into.
    value text NOT NULL,
    -- As clients send it. NULL once it was pruned: then it is no word any more, and may be learned anew under another id.
    sent text,
    -- The word that it was merged into; NULL where it stands for itself.
    counts_as integer REFERENCES log.word,
    -- Who taught it, which is what quotas count and an owner can undo; NULL for (other). Of the install a hash of 32 bits,
    -- which tells many of them apart, and from which none can be found.
    key integer,
    install_hash integer,
    learned_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (app, kind, sent)
);
CREATE INDEX word_by_time ON log.word (app, learned_at) INCLUDE (key, install_hash);
-- Few words are merged, and whoever reads events asks for those alone.
CREATE INDEX word_merged ON log.word (id) INCLUDE (counts_as) WHERE counts_as IS NOT NULL;

-- How many words there are, and the lock under which one more is added.
CREATE TABLE log.word_count (
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    words integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, kind)
);

-- What an app has learned, as a whole: who teaches shares its row, who undoes what was learned has it alone.
CREATE TABLE log.dictionary (
    app integer PRIMARY KEY REFERENCES log.app
);

-- The id of the reserved word, which stands for every word that was not learned. It takes no place of the others.
CREATE FUNCTION log.other_word(of_app integer, of_kind smallint) RETURNS integer
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO log.word (app, kind, value, sent)
    SELECT of_app, of_kind, '(other)', '(other)'
    -- A conflict would use up an id, each time that somebody asks.
    WHERE NOT EXISTS (SELECT FROM log.word WHERE app = of_app AND kind = of_kind AND sent = '(other)')
    ON CONFLICT DO NOTHING;
    SELECT id FROM log.word WHERE app = of_app AND kind = of_kind AND sent = '(other)';
$$;
REVOKE ALL ON FUNCTION log.other_word FROM PUBLIC;

-- The ids of these words of one app and kind, in this order; NULL for one that is not known.
CREATE FUNCTION log.word_ids(of_app integer, of_kind smallint, asked_values text[]) RETURNS integer[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(w.id ORDER BY asked.place)
    FROM unnest(asked_values) WITH ORDINALITY AS asked (value, place)
    -- LIMIT leaves one way to do it, an index look-up for each word.
    LEFT JOIN LATERAL (
        SELECT w.id FROM log.word AS w WHERE w.app = of_app AND w.kind = of_kind AND w.sent = asked.value LIMIT 1
    ) AS w ON true;
$$;
REVOKE ALL ON FUNCTION log.word_ids FROM PUBLIC;

-- The ids of these words of one app and kind, each with the key and the install that bring it. New ones are learned while
-- there is room, and while that install and that key have not taught too many within the hour, words of all kinds together;
-- any other one gets the id of the reserved word. Commit before using an id: one from a transaction that rolls back would
-- point at nothing.
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
    -- Words that are known to the log but not to the asking process are the common case, and need no lock.
    IF array_position(ids, NULL) IS NOT NULL THEN
        -- ON CONFLICT alone would wait for who prunes.
        INSERT INTO log.dictionary SELECT of_app WHERE NOT EXISTS (SELECT FROM log.dictionary WHERE app = of_app)
            ON CONFLICT DO NOTHING;
        INSERT INTO log.word_count (app, kind)
            SELECT of_app, of_kind WHERE NOT EXISTS (SELECT FROM log.word_count WHERE app = of_app AND kind = of_kind)
            ON CONFLICT DO NOTHING;
        -- A dictionary that is full, or a key that has used its quota, stays so for long: nobody waits for the answer.
        SELECT most - words INTO room FROM log.word_count
        WHERE app = of_app AND kind = of_kind AND EXISTS (
            SELECT FROM (SELECT DISTINCT asked.key FROM unnest(of_keys, ids) AS asked (key, id) WHERE asked.id IS NULL) AS k
            WHERE most_of_key > (
                SELECT count(*) FROM log.word AS w
                WHERE w.app = of_app AND w.key = k.key AND w.learned_at > now() - interval '1 hour'));
        IF room > 0 THEN
            -- Other teachers take a moment. Who prunes takes longer, and events of all apps would wait: nothing is learned then.
            PERFORM FROM log.dictionary WHERE app = of_app FOR SHARE SKIP LOCKED;
            IF FOUND THEN
                SELECT most - words INTO room FROM log.word_count WHERE app = of_app AND kind = of_kind FOR UPDATE;
            ELSE
                room := 0;
            END IF;
        END IF;
        IF room > 0 THEN
            WITH taught AS MATERIALIZED (
                -- As many as the quotas allow.
                SELECT w.key, w.install_hash FROM log.word AS w
                WHERE w.app = of_app AND w.learned_at > now() - interval '1 hour'
            ), unknown AS MATERIALIZED (
                SELECT DISTINCT ON (asked.value) asked.value, asked.key, uuid_hash(asked.install_id) AS install_hash
                FROM unnest(new_values, of_keys, of_installs) WITH ORDINALITY AS asked (value, key, install_id, place)
                WHERE asked.value <> '(other)' AND NOT EXISTS (
                    SELECT FROM log.word AS w WHERE w.app = of_app AND w.kind = of_kind AND w.sent = asked.value)
                ORDER BY asked.value, asked.place
            ), of_install AS (
                SELECT u.*, row_number() OVER (PARTITION BY u.install_hash ORDER BY u.value) AS place
                FROM unknown AS u
            ), of_key AS (
                SELECT i.value, i.key, i.install_hash, row_number() OVER (PARTITION BY i.key ORDER BY i.value) AS place
                FROM of_install AS i
                LEFT JOIN (SELECT install_hash, count(*) AS words FROM taught GROUP BY install_hash) AS t USING (install_hash)
                WHERE i.place + coalesce(t.words, 0) <= most_of_install
            )
            INSERT INTO log.word (app, kind, value, sent, key, install_hash)
            SELECT of_app, of_kind, k.value, k.value, k.key, k.install_hash
            FROM of_key AS k
            LEFT JOIN (SELECT key, count(*) AS words FROM taught GROUP BY key) AS t USING (key)
            WHERE k.place + coalesce(t.words, 0) <= most_of_key
            ORDER BY k.value
            LIMIT greatest(room, 0);
            GET DIAGNOSTICS added = ROW_COUNT;
            IF added > 0 THEN
                UPDATE log.word_count SET words = words + added WHERE app = of_app AND kind = of_kind;
            END IF;
        END IF;
        -- Somebody else may have taught some meanwhile, also where there is no room now.
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

-- What many events say together: the device an install runs on, and the words of a notification. An event holds one id of
-- each. The ids are of log.word, and 0 is none; codes count from 1.
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
    UNIQUE (app, platform, app_version, os_version, sdk, device_model, locale, time_zone, "authorization", show_previews)
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

-- How many an app has of each, and the lock under which one more is added.
CREATE TABLE log.combination_count (
    app integer NOT NULL REFERENCES log.app,
    dictionary text NOT NULL CHECK (dictionary IN ('device', 'context')),
    combinations integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, dictionary)
);

-- The ids of these rows of log.device or log.context, `width` members each, in the order of the table's columns; new ones
-- are added while there is room, and a NULL id says there was none. Commit before using an id, as for words.
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
        RAISE EXCEPTION '% is no dictionary of combinations', dictionary USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
        -- An older program does not know the last columns.
        string_agg(CASE WHEN a.attnum - 2 <= width THEN format('$2[(r.place - 1) * %s + %s]', width, a.attnum - 2) ELSE '0' END,
            ', ' ORDER BY a.attnum)
    INTO STRICT columns, picked
    FROM pg_attribute AS a
    WHERE a.attrelid = ('log.' || dictionary)::regclass AND a.attnum > 2 AND NOT a.attisdropped;
    known := format('SELECT d.id FROM log.%I AS d WHERE (d.app, d.%s) = ($1, %s)', dictionary,
        replace(columns, ', ', ', d.'), picked);
    -- Those that are known to the log but not to the asking process are the common case, and need no lock.
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
        -- As for words: where there is no room nobody waits, and while somebody prunes there is none.
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
