-- Why: the same few thousand names stand in every event, and mostly in the same combinations. As small numbers they are a
-- third of the bytes. All of it is bounded for each app, or one broken client would fill the disk with words.
CREATE TABLE log.word (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    value text NOT NULL,
    UNIQUE (app, kind, value)
);

-- How many words there are, and the lock under which one more is added.
CREATE TABLE log.word_count (
    app integer NOT NULL REFERENCES log.app,
    kind smallint NOT NULL,
    words integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, kind)
);

-- The ids of these words of one app and kind; new ones are added while there is room, and a NULL id says there was
-- none. Commit before using an id: one from a transaction that rolls back would point at nothing.
CREATE FUNCTION log.learn_words(of_app integer, of_kind smallint, new_values text[], most integer)
RETURNS TABLE (value text, id integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    room integer;
    added integer;
BEGIN
    -- Words that are known to the log but not to the asking process are the common case, and need no lock.
    IF EXISTS (
        SELECT FROM unnest(new_values) AS asked (value)
        WHERE NOT EXISTS (
            SELECT FROM log.word AS w WHERE w.app = of_app AND w.kind = of_kind AND w.value = asked.value)
    ) THEN
        INSERT INTO log.word_count (app, kind) VALUES (of_app, of_kind) ON CONFLICT DO NOTHING;
        SELECT most - words INTO room FROM log.word_count WHERE app = of_app AND kind = of_kind FOR UPDATE;
        INSERT INTO log.word (app, kind, value)
        SELECT of_app, of_kind, asked.value
        FROM (SELECT DISTINCT unnest(new_values) AS value) AS asked
        WHERE NOT EXISTS (
            SELECT FROM log.word AS w WHERE w.app = of_app AND w.kind = of_kind AND w.value = asked.value)
        ORDER BY asked.value
        LIMIT greatest(room, 0);
        GET DIAGNOSTICS added = ROW_COUNT;
        UPDATE log.word_count SET words = words + added WHERE app = of_app AND kind = of_kind AND added > 0;
    END IF;
    RETURN QUERY
    SELECT asked.value, w.id
    FROM unnest(new_values) AS asked (value)
    LEFT JOIN log.word AS w ON w.app = of_app AND w.kind = of_kind AND w.value = asked.value;
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
        INSERT INTO log.combination_count (app, dictionary) VALUES (of_app, dictionary) ON CONFLICT DO NOTHING;
        SELECT most - c.combinations INTO room FROM log.combination_count AS c
        WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary FOR UPDATE;
        EXECUTE format('INSERT INTO log.%I (app, %s)
            SELECT DISTINCT $1, %s FROM %s WHERE NOT EXISTS (%s) LIMIT greatest($3, 0)',
            dictionary, columns, picked, rows, known) USING of_app, members, room;
        GET DIAGNOSTICS added = ROW_COUNT;
        UPDATE log.combination_count AS c SET combinations = c.combinations + added
        WHERE c.app = of_app AND c.dictionary = learn_combinations.dictionary AND added > 0;
    END IF;
    RETURN QUERY EXECUTE format('SELECT r.place, (%s) FROM %s', known, rows)
        USING of_app, members;
END
$$;

REVOKE ALL ON FUNCTION log.learn_combinations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.learn_combinations TO bellwether_ingest;
