-- Why: funnels are folded from the log into tables of their own, which can be dropped and built again at any time. All
-- of one fold stand at one position of the log in each shard, so readers never see two funnels that disagree.
CREATE SCHEMA projection;

-- One fold of the log, from its beginning: a set of deliveries and the funnels made of them. Analysts read the live one.
-- A rebuild makes another beside it, and then they change places.
CREATE TABLE projection.line (
    id integer PRIMARY KEY CHECK (id > 0),
    state text NOT NULL CHECK (state IN ('live', 'building', 'retired')),
    made_at timestamptz NOT NULL DEFAULT now(),
    -- In the keys of its deliveries, so that nobody outside can make many with one key.
    salt bigint NOT NULL DEFAULT hashtextextended(gen_random_uuid()::text, 0),
    -- The transactions that were open after it was retired: a snapshot of theirs may be older, and a table that is dropped
    -- is gone from every snapshot. NULL until somebody has looked.
    readers text[]
);
CREATE UNIQUE INDEX line_only_one_live ON projection.line (state) WHERE state = 'live';

-- How far each shard of a line has come. Its row is locked while it is moved (which saves work when two runners meet),
-- and moves only from where the mover found it (which keeps them safe).
CREATE TABLE projection.progress (
    line integer NOT NULL REFERENCES projection.line ON DELETE CASCADE,
    shard smallint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    moved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (line, shard)
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The projectors of a line. Their tables are the partitions of this number of the tables that bear their names;
-- partition 0 holds what retention has sealed, and belongs to every line.
CREATE TABLE projection.projector (
    line integer NOT NULL REFERENCES projection.line ON DELETE CASCADE,
    name text NOT NULL,
    version integer NOT NULL,
    tables integer NOT NULL,
    -- Set when it failed: the first batch that it could not apply, and why.
    stopped_at timestamptz,
    stopped_batch bigint,
    stopped_because text,
    PRIMARY KEY (line, name)
);

-- Which partitions analysts read.
CREATE VIEW projection.live AS
SELECT p.name, p.tables FROM projection.projector AS p JOIN projection.line AS l ON l.id = p.line WHERE l.state = 'live';

-- The line that is meant: this one while it is being built, or the live one for NULL.
CREATE FUNCTION projection.chosen_line(building integer) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT id FROM projection.line WHERE CASE WHEN building IS NULL THEN state = 'live' ELSE id = building AND state = 'building' END
$$;
REVOKE ALL ON FUNCTION projection.chosen_line FROM PUBLIC;

-- The time zone in which the days of an app stand in the tables, and a fingerprint of that zone's rules.
CREATE TABLE projection.zone (
    app integer PRIMARY KEY,
    time_zone text NOT NULL,
    rules text NOT NULL,
    -- How often the app's zone was changed, and with which of these changes all days came to stand in one. A zone that
    -- was changed and changed back has days in both.
    changes integer NOT NULL DEFAULT 0,
    made integer NOT NULL DEFAULT 0
);

-- Deliveries whose counts retention has sealed. What events of them the log still holds count no more: all of those lie
-- between these two times, with what came after the sealing.
CREATE TABLE projection.sealed_delivery (
    first_device_at timestamptz NOT NULL,
    last_device_at timestamptz NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    shard smallint NOT NULL,
    notification_key text COLLATE "C" NOT NULL,
    PRIMARY KEY (notification_key, install_id, app, shard)
);

-- What a time zone's rules say, in short: an update of the system's time-zone data can move a midnight.
CREATE FUNCTION projection.zone_rules(zone text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT md5(string_agg(timestamptz_send((date '2000-01-01' + day)::timestamp AT TIME ZONE zone), '' ORDER BY day))
    FROM generate_series(0, date '2040-01-01' - date '2000-01-01') AS day
$$;
REVOKE ALL ON FUNCTION projection.zone_rules FROM PUBLIC;

-- Makes the partition of this number of a projector's table.
CREATE FUNCTION projection.make_table(parent text, number integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text := parent || '_' || number;
BEGIN
    EXECUTE format('CREATE TABLE projection.%I (LIKE projection.%I INCLUDING ALL)', name, parent);
    -- Room to update rows in their page, and vacuum before dead versions of the few busy cells pile up.
    EXECUTE format('ALTER TABLE projection.%I SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)', name);
    EXECUTE format('ALTER TABLE projection.%I ATTACH PARTITION projection.%I FOR VALUES IN (%s)', parent, name, number);
END
$$;
REVOKE ALL ON FUNCTION projection.make_table FROM PUBLIC;

-- Makes a funnel's table: counts, which are bigint, by app, day, keys of its own such as 'category integer', and shard. What
-- a column means is declared in the program; wide columns come first, so that nothing is lost between them.
CREATE FUNCTION projection.make_funnel(name text, keys text[], counts text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE projection.%I (%s, tables integer NOT NULL, app integer NOT NULL, day date NOT NULL, %s,
            shard smallint NOT NULL, PRIMARY KEY (app, day, %s, shard, tables)) PARTITION BY LIST (tables)',
        name, (SELECT string_agg(format('%I bigint NOT NULL', count), ', ' ORDER BY place) FROM unnest(counts) WITH ORDINALITY AS c (count, place)),
        (SELECT string_agg(key || ' NOT NULL', ', ' ORDER BY place) FROM unnest(keys) WITH ORDINALITY AS k (key, place)),
        (SELECT string_agg(split_part(key, ' ', 1), ', ' ORDER BY place) FROM unnest(keys) WITH ORDINALITY AS k (key, place)));
END
$$;
REVOKE ALL ON FUNCTION projection.make_funnel FROM PUBLIC;

-- Adds a projector: the sealed and the first partition of its tables, and its place in the live line.
-- A projector that comes when the log is no longer empty stands at version 0, so that who runs the projections finds it to
-- be built like one whose rules have changed.
CREATE FUNCTION projection.add_projector(new_name text, new_version integer, parents text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    live integer := (SELECT id FROM projection.line WHERE state = 'live');
    parent text;
BEGIN
    FOREACH parent IN ARRAY parents LOOP
        PERFORM projection.make_table(parent, 0);
        PERFORM projection.make_table(parent, live);
    END LOOP;
    INSERT INTO projection.projector (line, name, version, tables) VALUES (live, new_name, new_version, live);
    UPDATE projection.projector
    SET version = 0, stopped_at = now(), stopped_batch = 1,
        stopped_because = 'it is new and has yet to be built from the log'
    WHERE line = live AND name = new_name
        AND EXISTS (SELECT FROM projection.progress WHERE line = live AND position > 0);
END
$$;
REVOKE ALL ON FUNCTION projection.add_projector FROM PUBLIC;

-- Adds a projector of one funnel, which bears its name.
CREATE FUNCTION projection.add_funnel(name text, version integer, keys text[], counts text[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    SELECT projection.make_funnel(name, keys, counts);
    SELECT projection.add_projector(name, version, ARRAY[name]);
$$;
REVOKE ALL ON FUNCTION projection.add_funnel FROM PUBLIC;

-- Raises the version of a projector's rules where nothing was counted yet. Where something was, its tables hold what the
-- older rules counted, and have to be built anew.
CREATE FUNCTION projection.raise_version(of_projector text, new_version integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE projection.projector AS p SET version = new_version
    WHERE p.name = of_projector
        AND EXISTS (SELECT FROM projection.line AS l WHERE l.id = p.line AND l.state = 'live')
        AND NOT EXISTS (SELECT FROM projection.progress AS g WHERE g.line = p.line AND g.position > 0)
$$;
REVOKE ALL ON FUNCTION projection.raise_version FROM PUBLIC;

-- Held, as a table and without a row, by the one that makes funnels anew after an update.
CREATE TABLE projection.renewal ();

INSERT INTO projection.line (id, state) VALUES (1, 'live');
INSERT INTO projection.progress (line, shard) SELECT 1, shard FROM log.head, generate_series(0, log.head.shards - 1) AS shard;

-- A runner reads the log, writes what projectors own, and nothing else.
GRANT USAGE ON SCHEMA log, projection TO bellwether_projector;
GRANT SELECT ON log.event, log.batch, log.device, log.context, log.app, log.head TO bellwether_projector;
GRANT SELECT (id, counts_as) ON log.word TO bellwether_projector;
GRANT SELECT ON projection.line, projection.sealed_delivery TO bellwether_projector;
GRANT UPDATE (state, readers) ON projection.line TO bellwether_projector;
GRANT SELECT, UPDATE ON projection.progress, projection.projector TO bellwether_projector;
GRANT UPDATE (first_device_at, last_device_at) ON projection.sealed_delivery TO bellwether_projector;
GRANT SELECT, INSERT, UPDATE ON projection.zone TO bellwether_projector;
GRANT EXECUTE ON FUNCTION projection.chosen_line, projection.zone_rules TO bellwether_projector;
ALTER DEFAULT PRIVILEGES IN SCHEMA projection GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO bellwether_projector;
