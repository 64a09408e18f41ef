-- Why: when one PostgreSQL is too small, several hold the installs together: each is a cell, a whole database that has
-- some of the shards. Which cell has which shard is the map. It is kept in every cell, and numbered: the highest epoch
-- counts. A database that belongs to no cluster has no cells and no map, and all shards are its own.
CREATE SCHEMA cluster;

CREATE TABLE cluster.cell (
    cell smallint PRIMARY KEY CHECK (cell > 0),
    -- As people say it.
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    -- Where it is, for libpq. Who logs in, and with which password, is up to the process that connects.
    connection text NOT NULL CHECK (connection <> '' AND connection !~ '(^|\s)(user|password|sslpassword)\s*='),
    -- A hub has no events. Its views of `analytics` read all cells.
    is_hub boolean NOT NULL DEFAULT false,
    -- The last map that changed which copies the cell has. If its own map is older than that, it was restored from a
    -- backup, and what it shows another cell may show, too.
    least_epoch bigint NOT NULL DEFAULT 0
);

-- Which cell takes the events of a shard. While the shard is moved, two cells have events of it: `home` is the one
-- whose copy is whole and shown, and `arriving` or `leaving` is the other, which is still being filled, or emptied. All
-- three are NULL otherwise. No cell takes the events of a shard whose `cell` is NULL, for the moment between the old
-- cell and the new one.
CREATE TABLE cluster.map (
    shard smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    cell smallint REFERENCES cluster.cell,
    home smallint REFERENCES cluster.cell,
    arriving smallint REFERENCES cluster.cell,
    leaving smallint REFERENCES cluster.cell,
    CHECK (num_nonnulls(arriving, leaving) = num_nonnulls(home)),
    CHECK (home NOT IN (arriving, leaving)),
    CHECK (cell IN (home, arriving))
);

-- What this database knows of itself: its cluster and its cell are NULL until it belongs to one.
CREATE TABLE cluster.state (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    cluster uuid,
    cell smallint REFERENCES cluster.cell,
    epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    -- A batch that others had seen here, and which is not here any more: this database was restored from a backup. NULL
    -- when somebody has said that the cluster goes on without what was lost, which is true of all that was committed
    -- before `settled_at`.
    lost_batch bigint,
    lost_committed_at timestamptz,
    settled_at timestamptz,
    CHECK ((cluster IS NULL) = (cell IS NULL))
);
INSERT INTO cluster.state DEFAULT VALUES;

-- The last batch of each other cell that somebody saw there. No restore leaves it as it was: it is gone, or its number
-- belongs to a batch of another time.
CREATE TABLE cluster.seen (
    cell smallint PRIMARY KEY REFERENCES cluster.cell ON DELETE CASCADE,
    batch bigint NOT NULL,
    committed_at timestamptz NOT NULL
);

-- What each process of `serve` says every few seconds: why it cannot work in a cell, or NULL if it can.
CREATE TABLE cluster.process (
    node text NOT NULL,
    cell smallint NOT NULL REFERENCES cluster.cell ON DELETE CASCADE,
    login text NOT NULL DEFAULT session_user,
    fault text,
    -- Since when it has had a fault: a cell that is being started again is no reason to refuse it shards.
    fault_since timestamptz,
    told_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (node, cell)
);

GRANT USAGE ON SCHEMA cluster TO bellwether_ingest, bellwether_projector;
GRANT SELECT ON cluster.cell, cluster.map, cluster.state TO bellwether_ingest, bellwether_projector;
GRANT SELECT, INSERT, UPDATE ON cluster.seen TO bellwether_ingest;
GRANT SELECT, INSERT, UPDATE, DELETE ON cluster.process TO bellwether_ingest;

-- Whether this database does not have a batch that somebody saw in it before. Then it says so from now on. Whoever
-- takes events can say that they saw one; what nobody can have seen yet is not believed, since it could never be
-- settled.
CREATE FUNCTION cluster.lacks_batch(seen bigint, seen_at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF seen IS NULL OR seen_at IS NULL OR seen_at > clock_timestamp() + interval '1 hour'
        OR EXISTS (SELECT FROM log.batch WHERE number = seen AND committed_at = seen_at)
        OR EXISTS (SELECT FROM cluster.state WHERE settled_at >= seen_at) THEN
        RETURN false;
    END IF;
    UPDATE cluster.state SET lost_batch = seen, lost_committed_at = seen_at WHERE lost_batch IS NULL;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION cluster.lacks_batch FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cluster.lacks_batch TO bellwether_ingest;

-- A new map is a decision about what the log accepts. After it is committed, a writer that does not know it fails at
-- its commit, however long it was delayed, and reads the map again.
CREATE CONSTRAINT TRIGGER announce_map AFTER UPDATE ON cluster.state DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.epoch IS DISTINCT FROM OLD.epoch OR NEW.cell IS DISTINCT FROM OLD.cell)
    EXECUTE FUNCTION log.announce_decision();

-- The shards of which a cell has a copy that hubs do not show.
CREATE FUNCTION cluster.hidden_in(a_cell smallint) RETURNS smallint[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT coalesce(array_agg(shard ORDER BY shard), '{}') FROM cluster.map WHERE a_cell IN (arriving, leaving) $$;
REVOKE ALL ON FUNCTION cluster.hidden_in FROM PUBLIC;

-- Fails if a hub reads this database and it was restored from a backup: its numbers are not those that the hub has to
-- show, and another cell may have its shards. A hub says when it logs in which map the cell must have. True for
-- everybody else.
CREATE FUNCTION cluster.is_whole() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least bigint := nullif(current_setting('bellwether.least_epoch', true), '');
BEGIN
    IF least IS NOT NULL AND NOT EXISTS (SELECT FROM cluster.state WHERE epoch >= least AND lost_batch IS NULL) THEN
        RAISE EXCEPTION '%', format(
            'cell ''%s'' was restored from a backup, and does not have all that the cluster knows of it. Hubs show nothing of it '
                'until that is settled: run bellwether cluster check',
            current_setting('bellwether.cell', true))
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION cluster.is_whole FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cluster.is_whole TO bellwether_analyst, bellwether_projector;

-- The same as hidden_in for whoever reads a cell: a hub says what it hides when it logs in. NULL for everybody else.
CREATE FUNCTION cluster.hidden_shards() RETURNS smallint[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT nullif(current_setting('bellwether.hidden', true), '')::smallint[] $$;
REVOKE ALL ON FUNCTION cluster.hidden_shards FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cluster.hidden_shards TO bellwether_analyst, bellwether_projector;

-- All that the views of a hub depend on.
CREATE FUNCTION cluster.readable() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(format('%s %s %s %s %s', cell, name, connection, least_epoch, cluster.hidden_in(cell)), E'\n' ORDER BY cell)
    FROM cluster.cell WHERE NOT is_hub
$$;
REVOKE ALL ON FUNCTION cluster.readable FROM PUBLIC;

-- Takes a map: which cells there are, which of them this one is, the cell of each shard, from 0, and the other three
-- columns of `cluster.map`. Returns false, and changes nothing, if this database has a map of this epoch or a later
-- one. Fails if it cannot follow the map (cluster.compare_map), except in these `known` shards, with which whoever
-- tells it is at work.
--
-- A hub shows the copies that the map says, so its readers must not see two maps at once: its views are made again, for
-- which PostgreSQL waits for whoever reads them. The lock timeout of the session says how long.
CREATE FUNCTION cluster.take_map(
    of_cluster uuid, new_epoch bigint, own smallint, new_cells smallint[], new_names text[], new_connections text[],
    new_hubs boolean[], least_epochs bigint[], holders smallint[], homes smallint[], arriving smallint[], leaving smallint[],
    known smallint[]
) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present cluster.state;
    had text;
    lost smallint[];
BEGIN
    SELECT * INTO STRICT present FROM cluster.state FOR UPDATE;
    IF present.cluster <> of_cluster OR present.cell <> own THEN
        RAISE EXCEPTION 'this database is another cell, or a cell of another cluster'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF cardinality(holders) <> (SELECT shards FROM log.head) THEN
        RAISE EXCEPTION 'the map has % shards, and this database has %', cardinality(holders), (SELECT shards FROM log.head)
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(new_cells, new_hubs) AS c (cell, is_hub)
        WHERE c.is_hub AND c.cell = ANY (holders || homes || arriving || leaving)) THEN
        RAISE EXCEPTION 'a hub has no shards' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF present.epoch >= new_epoch THEN
        RETURN false;
    END IF;
    SELECT array_agg(c.shard) INTO lost
    FROM cluster.compare_map(own, holders, homes, arriving, leaving) AS d, unnest(d.surplus || d.missing) AS c (shard)
    WHERE c.shard <> ALL (known);
    IF lost IS NOT NULL THEN
        RAISE EXCEPTION '%', format(
            'this database cannot tell what became of the shards %s: it was restored from a backup that is older than their '
                'move. Run bellwether cluster check', array_to_string(lost, ', '))
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    had := cluster.readable();
    DELETE FROM cluster.map;
    DELETE FROM cluster.cell WHERE cell <> ALL (new_cells);
    INSERT INTO cluster.cell (cell, name, connection, is_hub, least_epoch)
    SELECT * FROM unnest(new_cells, new_names, new_connections, new_hubs, least_epochs)
    ON CONFLICT (cell) DO UPDATE
    SET name = excluded.name, connection = excluded.connection, is_hub = excluded.is_hub, least_epoch = excluded.least_epoch;
    INSERT INTO cluster.map (shard, cell, home, arriving, leaving)
    SELECT m.place - 1, m.cell, m.home, m.arriving, m.leaving
    FROM unnest(holders, homes, arriving, leaving) WITH ORDINALITY AS m (cell, home, arriving, leaving, place);
    UPDATE cluster.state SET cluster = of_cluster, cell = own, epoch = new_epoch;
    IF (SELECT is_hub FROM cluster.cell WHERE cell = own) AND had IS DISTINCT FROM cluster.readable() THEN
        PERFORM cluster.reach_cells();
    END IF;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION cluster.take_map FROM PUBLIC;

-- What the views of `analytics` add up, a relation a funnel, with words instead of ids: in each database its own counts,
-- in a hub those of all cells. Nobody but the owner reads it: those views are bound to the apps of a login, and a rule
-- below them would keep their conditions from the keys of tables.
CREATE SCHEMA counted;

-- What hubs read of a cell besides `analytics`: among others all of `counted`, which is bound here.
CREATE SCHEMA cells;
GRANT USAGE ON SCHEMA cells TO bellwether_analyst;

-- In a hub: a view for each of these, with the rows of all cells and the name of the cell beside them. It reads foreign
-- tables, one a cell: `deliveries@2` is that of cell 2.
CREATE SCHEMA hub;
GRANT USAGE ON SCHEMA hub TO bellwether_analyst;

-- Offers a view of `counted` to hubs.
CREATE FUNCTION cluster.offer(a_view regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text := (SELECT relname FROM pg_class WHERE oid = a_view);
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW cells.%I AS SELECT * FROM %s', name, a_view);
    EXECUTE format('GRANT SELECT ON cells.%I TO bellwether_analyst', name);
END
$$;
REVOKE ALL ON FUNCTION cluster.offer FROM PUBLIC;

-- The views that a hub reads in all cells.
CREATE TABLE cluster.gathered (
    source text PRIMARY KEY
);

-- A server for each cell, named after it, so that an error names the cell. The hub logs in as its own user does, and
-- goes on as an analyst. PostgreSQL keeps the password with the mapping of the user, where only the owner and
-- superusers see it.
CREATE FUNCTION cluster.reach_cells() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
    known text[];
    secret text := nullif(current_setting('bellwether.cell_password', true), '');
BEGIN
    FOR one IN
        SELECT c.name, (
            SELECT string_agg(format('ADD %I %L', o.keyword, o.value), ', ')
            FROM (
                SELECT part[1] AS keyword, regexp_replace(part[2], E'\\\\(.)', '\1', 'g') AS value
                FROM regexp_matches(c.connection, E'(\\w+)=''((?:[^''\\\\]|\\\\.)*)''', 'g') AS part
                WHERE part[1] NOT IN ('options', 'connect_timeout', 'application_name', 'client_encoding', 'fallback_application_name')
                UNION ALL
                VALUES ('options', format(
                        '-c role=bellwether_analyst -c bellwether.hidden=%s -c bellwether.least_epoch=%s -c bellwether.cell=%s',
                        cluster.hidden_in(c.cell), c.least_epoch, c.name)),
                    ('connect_timeout', '5'), ('application_name', 'bellwether hub'),
                    ('async_capable', 'true'), ('fetch_size', '1000')
            ) AS o
        ) AS options
        FROM cluster.cell AS c WHERE NOT c.is_hub
    LOOP
        SELECT coalesce(array_agg(format('DROP %I', split_part(o, '=', 1))), '{}') INTO known
        FROM pg_foreign_server AS s, unnest(s.srvoptions) AS o WHERE s.srvname = one.name;
        IF EXISTS (SELECT FROM pg_foreign_server WHERE srvname = one.name) THEN
            EXECUTE format('ALTER SERVER %I OPTIONS (%s)', one.name, array_to_string(known || one.options, ', '));
        ELSE
            EXECUTE format(
                'CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', one.name,
                replace(one.options, 'ADD ', ''));
        END IF;
        IF NOT EXISTS (SELECT FROM pg_user_mappings WHERE srvname = one.name AND usename = current_user) THEN
            EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I OPTIONS (user %L)', one.name, session_user);
        END IF;
        IF secret IS NOT NULL THEN
            SELECT array_agg(split_part(o, '=', 1)) INTO known
            FROM pg_user_mappings AS m, unnest(m.umoptions) AS o WHERE m.srvname = one.name AND m.usename = current_user;
            EXECUTE format(
                'ALTER USER MAPPING FOR CURRENT_USER SERVER %I OPTIONS (%s password %L)', one.name,
                CASE WHEN 'password' = ANY (known) THEN 'SET' ELSE 'ADD' END, secret);
        END IF;
    END LOOP;
    PERFORM cluster.gather(source) FROM cluster.gathered;
    FOR one IN
        SELECT s.srvname FROM pg_foreign_server AS s
        JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw AND w.fdwname = 'postgres_fdw'
        WHERE NOT EXISTS (SELECT FROM cluster.cell AS c WHERE c.name = s.srvname AND NOT c.is_hub)
    LOOP
        EXECUTE format('DROP SERVER %I CASCADE', one.srvname);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION cluster.reach_cells FROM PUBLIC;

-- Makes the view of a hub with the rows of all cells. They have the columns that the view has here; new ones are at its
-- end.
CREATE FUNCTION cluster.gather(a_view text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source record;
    one record;
    foreign_name text;
    missing text[];
    parts text[] := '{}';
BEGIN
    SELECT c.oid, n.nspname, c.relname, a.definitions, a.names, a.nulls INTO STRICT source
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
        SELECT
            array_agg(format('%I %s%s', a.attname, kind.name, kind.order) ORDER BY a.attnum) AS definitions,
            string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS names,
            string_agg(format('NULL::%s%s AS %I', kind.name, kind.order, a.attname), ', ' ORDER BY a.attnum) AS nulls
        FROM pg_attribute AS a
        CROSS JOIN LATERAL (
            SELECT
                format_type(a.atttypid, a.atttypmod) AS name,
                CASE WHEN a.attcollation NOT IN (0, 'pg_catalog.default'::regcollation)
                    THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END AS order
        ) AS kind
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS a
    WHERE c.oid = a_view::regclass;
    FOR one IN SELECT c.cell, c.name FROM cluster.cell AS c WHERE NOT c.is_hub ORDER BY c.cell LOOP
        foreign_name := source.relname || '@' || one.cell;
        IF to_regclass(format('hub.%I', foreign_name)) IS NULL THEN
            EXECUTE format(
                'CREATE FOREIGN TABLE hub.%I (%s) SERVER %I OPTIONS (schema_name %L, table_name %L)', foreign_name,
                array_to_string(source.definitions, ', '), one.name, source.nspname, source.relname);
        ELSE
            SELECT array_agg('ADD COLUMN ' || d.definition ORDER BY d.place) INTO missing
            FROM unnest(source.definitions) WITH ORDINALITY AS d (definition, place)
            WHERE d.place > (
                SELECT count(*) FROM pg_attribute AS a
                WHERE a.attrelid = format('hub.%I', foreign_name)::regclass AND a.attnum > 0 AND NOT a.attisdropped);
            IF missing IS NOT NULL THEN
                EXECUTE format('ALTER FOREIGN TABLE hub.%I %s', foreign_name, array_to_string(missing, ', '));
            END IF;
        END IF;
        parts := parts || format('SELECT %L::text AS cell, %s FROM hub.%I', one.name, source.names, foreign_name);
    END LOOP;
    IF parts = '{}' THEN
        parts := ARRAY[format('SELECT NULL::text AS cell, %s WHERE false', source.nulls)];
    END IF;
    EXECUTE format('CREATE OR REPLACE VIEW hub.%I AS %s', source.relname, array_to_string(parts, ' UNION ALL '));
    EXECUTE format('GRANT SELECT ON hub.%I TO bellwether_analyst', source.relname);
    PERFORM log.bind_view(format('hub.%I', source.relname)::regclass);
    INSERT INTO cluster.gathered (source) VALUES (a_view) ON CONFLICT DO NOTHING;
END
$$;
REVOKE ALL ON FUNCTION cluster.gather FROM PUBLIC;

-- Lets a view of a hub show the rows of all cells, with the columns and comments that it has. Those of `counted` are read as
-- they are offered.
CREATE FUNCTION cluster.show_all(a_view text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM cluster.gather((
        SELECT CASE WHEN c.relnamespace = 'counted'::regnamespace THEN format('cells.%I', c.relname) ELSE a_view END
        FROM pg_class AS c WHERE c.oid = a_view::regclass));
    EXECUTE (
        SELECT format(
            'CREATE OR REPLACE VIEW %s AS SELECT %s FROM hub.%I', a_view::regclass,
            string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), c.relname)
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.oid = a_view::regclass GROUP BY c.relname);
END
$$;
REVOKE ALL ON FUNCTION cluster.show_all FROM PUBLIC;
