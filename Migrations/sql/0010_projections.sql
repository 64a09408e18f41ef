-- Why: funnels are folded from the log into tables of their own, which can be dropped and rebuilt at any time. In each
-- shard all tables of one fold are at the same position of the log, so readers never see two funnels that disagree.
CREATE SCHEMA projection;

-- A fold of the log from its beginning: deliveries, and the funnels made of them. Analysts read the live one. A rebuild
-- builds another one beside it and then swaps the two.
CREATE TABLE projection.generation (
    id integer PRIMARY KEY CHECK (id > 0),
    state text NOT NULL CHECK (state IN ('live', 'building', 'retired')),
    made_at timestamptz NOT NULL DEFAULT now(),
    -- With it the keys of its deliveries and install days are made, so that nobody outside can create many with the
    -- same key.
    secret uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The transactions that were open after it was retired. Their snapshots may be older, and a dropped table
    -- disappears from every snapshot, so its tables are kept until these transactions have ended. NULL until they have
    -- been listed.
    readers text[],
    -- log.head.words when it was made. Words that were merged or pruned later are not in its deliveries.
    words integer NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX generation_only_one_live ON projection.generation (state) WHERE state = 'live';

-- The position of each shard of a generation. A step locks the row while it moves the shard, so that two runners do not
-- do the same work, and updates it only if the position is still the one it started from, which keeps both safe.
CREATE TABLE projection.progress (
    generation integer NOT NULL REFERENCES projection.generation ON DELETE CASCADE,
    shard smallint NOT NULL,
    position bigint NOT NULL DEFAULT 0 CHECK (position >= 0),
    moved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (generation, shard)
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The projectors of a generation. `tables_generation` is the number of the partitions that hold their rows: it differs
-- from `generation` after a single projector was rebuilt. Partition 0 holds what retention has sealed, and belongs to
-- every generation.
CREATE TABLE projection.projector (
    generation integer NOT NULL REFERENCES projection.generation ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL,
    tables_generation integer NOT NULL,
    -- Set when it fails: the first batch that it could not apply, and why.
    stopped_at timestamptz,
    stopped_batch bigint CHECK (stopped_batch > 0),
    stopped_because text,
    PRIMARY KEY (generation, name)
);

-- The partitions that analysts read.
CREATE VIEW projection.live AS
SELECT p.name, p.tables_generation AS generation
FROM projection.projector AS p JOIN projection.generation AS g ON g.id = p.generation WHERE g.state = 'live';

-- Returns the id of the generation that is being built if it is this one, or of the live generation for NULL.
CREATE FUNCTION projection.chosen_generation(building integer) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT id FROM projection.generation
    WHERE CASE WHEN building IS NULL THEN state = 'live' ELSE id = building AND state = 'building' END
$$;
REVOKE ALL ON FUNCTION projection.chosen_generation FROM PUBLIC;

-- The time zone of the days in an app's funnels, and a fingerprint of that zone's rules.
CREATE TABLE projection.zone (
    app integer PRIMARY KEY,
    time_zone text NOT NULL,
    rules text NOT NULL,
    -- `changes` counts how often the zone was changed; `made` is the last of these changes after which all days were in
    -- one zone. While a zone is changed and changed back, there are days in both.
    changes integer NOT NULL DEFAULT 0,
    made integer NOT NULL DEFAULT 0
);

-- Deliveries whose counts retention has sealed. Events of theirs that the log still holds no longer count. All of these
-- events are between the two times, including those that came after the sealing.
CREATE TABLE projection.sealed_delivery (
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    shard smallint NOT NULL,
    notification_key text COLLATE "C" NOT NULL,
    PRIMARY KEY (notification_key, install_id, app, shard)
);

-- Days of installs whose counts retention has sealed, by the time that each day took: another time zone has other days.
-- Events of the install in that time no longer count towards any day.
CREATE TABLE projection.sealed_install_day (
    from_at timestamptz NOT NULL,
    to_at timestamptz NOT NULL,
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (install_id, app, shard, from_at)
);

-- A fingerprint of a time zone's rules. An update of the system's time-zone data can move a midnight.
CREATE FUNCTION projection.zone_rules(zone text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT md5(string_agg(timestamptz_send((date '2000-01-01' + day)::timestamp AT TIME ZONE zone), '' ORDER BY day))
    FROM generate_series(0, date '2040-01-01' - date '2000-01-01') AS day
$$;
REVOKE ALL ON FUNCTION projection.zone_rules FROM PUBLIC;

-- Creates the partition with this number of a projector's table.
CREATE FUNCTION projection.make_table(parent text, number integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text := parent || '_' || number;
BEGIN
    EXECUTE format('CREATE TABLE projection.%I (LIKE projection.%I INCLUDING ALL)', name, parent);
    -- Leave room to update rows within their page, and vacuum before dead versions of the few busy cells pile up.
    EXECUTE format('ALTER TABLE projection.%I SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)', name);
    EXECUTE format('ALTER TABLE projection.%I ATTACH PARTITION projection.%I FOR VALUES IN (%s)', parent, name, number);
END
$$;
REVOKE ALL ON FUNCTION projection.make_table FROM PUBLIC;

-- Creates a funnel's table: counts (bigint) by app, day, keys of its own such as 'category integer', and shard. The
-- primary key has them in this order, unless 'day date' is among the keys and so has another place. The program declares
-- what each column means. Wide columns come first, so that no bytes are lost to alignment.
CREATE FUNCTION projection.make_funnel(name text, keys text[], counts text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ordered text[] := CASE WHEN 'day date' = ANY (keys) THEN keys ELSE ARRAY['day date'] || keys END;
BEGIN
    EXECUTE format(
        'CREATE TABLE projection.%I (%s, generation integer NOT NULL, app integer NOT NULL,%s
            shard smallint NOT NULL, PRIMARY KEY (app,%s shard, generation)) PARTITION BY LIST (generation)',
        name, (SELECT string_agg(format('%I bigint NOT NULL', count), ', ' ORDER BY place) FROM unnest(counts) WITH ORDINALITY AS c (count, place)),
        (SELECT string_agg(format(' %s NOT NULL,', key), '' ORDER BY place) FROM unnest(ordered) WITH ORDINALITY AS k (key, place)),
        (SELECT string_agg(format(' %s,', split_part(key, ' ', 1)), '' ORDER BY place) FROM unnest(ordered) WITH ORDINALITY AS k (key, place)));
END
$$;
REVOKE ALL ON FUNCTION projection.make_funnel FROM PUBLIC;

-- Adds a projector to the live generation, and creates the sealed and the live partition of its tables. If the log is
-- no longer empty, the projector starts at version 0: so it is rebuilt from the log, like one whose rules have changed.
CREATE FUNCTION projection.add_projector(new_name text, new_version integer, parents text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    live integer := (SELECT id FROM projection.generation WHERE state = 'live');
    parent text;
BEGIN
    FOREACH parent IN ARRAY parents LOOP
        PERFORM projection.make_table(parent, 0);
        PERFORM projection.make_table(parent, live);
    END LOOP;
    INSERT INTO projection.projector (generation, name, version, tables_generation) VALUES (live, new_name, new_version, live);
    UPDATE projection.projector
    SET version = 0, stopped_at = now(), stopped_batch = 1,
        stopped_because = 'it is new and has yet to be built from the log'
    WHERE generation = live AND name = new_name
        AND EXISTS (SELECT FROM projection.progress WHERE generation = live AND position > 0);
END
$$;
REVOKE ALL ON FUNCTION projection.add_projector FROM PUBLIC;

-- Adds a projector with a single funnel of the same name.
CREATE FUNCTION projection.add_funnel(name text, version integer, keys text[], counts text[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    SELECT projection.make_funnel(name, keys, counts);
    SELECT projection.add_projector(name, version, ARRAY[name]);
$$;
REVOKE ALL ON FUNCTION projection.add_funnel FROM PUBLIC;

-- Raises the version of a projector's rules if nothing has been counted yet. Otherwise its tables hold what the older
-- rules counted, and have to be rebuilt.
CREATE FUNCTION projection.raise_version(of_projector text, new_version integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE projection.projector AS p SET version = new_version
    WHERE p.name = of_projector
        AND EXISTS (SELECT FROM projection.generation AS l WHERE l.id = p.generation AND l.state = 'live')
        AND NOT EXISTS (SELECT FROM projection.progress AS g WHERE g.generation = p.generation AND g.position > 0)
$$;
REVOKE ALL ON FUNCTION projection.raise_version FROM PUBLIC;

-- Has no rows: the process that rebuilds funnels after an update locks this table.
CREATE TABLE projection.renewal ();

INSERT INTO projection.generation (id, state) VALUES (1, 'live');
INSERT INTO projection.progress (generation, shard) SELECT 1, shard FROM log.head, generate_series(0, log.head.shards - 1) AS shard;

-- A runner reads the log and writes the tables of the projectors, and nothing else.
GRANT USAGE ON SCHEMA log, projection TO bellwether_projector;
GRANT SELECT ON log.event, log.batch, log.device, log.context, log.app, log.head TO bellwether_projector;
GRANT SELECT (id, counts_as) ON log.word TO bellwether_projector;
GRANT SELECT ON projection.generation, projection.sealed_delivery, projection.sealed_install_day TO bellwether_projector;
GRANT UPDATE (state, readers) ON projection.generation TO bellwether_projector;
GRANT SELECT, UPDATE ON projection.progress, projection.projector TO bellwether_projector;
GRANT UPDATE (first_device_at, last_device_at) ON projection.sealed_delivery, projection.sealed_install_day TO bellwether_projector;
GRANT SELECT, INSERT, UPDATE ON projection.zone TO bellwether_projector;
GRANT EXECUTE ON FUNCTION projection.chosen_generation, projection.zone_rules TO bellwether_projector;
ALTER DEFAULT PRIVILEGES IN SCHEMA projection GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO bellwether_projector;
