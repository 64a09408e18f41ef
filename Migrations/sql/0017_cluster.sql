-- Why: when one PostgreSQL is too small, several hold the installs together: each is a cell, a whole database that has some of
-- the shards. Which cell has which shard is the map. It is kept in every cell, and numbered: the highest epoch counts. A database
-- that belongs to no cluster has no cells and no map, and all shards are its own.
CREATE SCHEMA cluster;

CREATE TABLE cluster.cell (
    cell smallint PRIMARY KEY CHECK (cell > 0),
    -- As people say it.
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    -- Where it is, for libpq. Who logs in, and with which password, is up to the process that connects.
    connection text NOT NULL CHECK (connection <> '' AND connection !~ '(^|\s)(user|password|sslpassword)\s*=')
);

-- No cell takes the events of a shard whose cell is NULL: it is being moved.
CREATE TABLE cluster.map (
    shard smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    cell smallint REFERENCES cluster.cell
);

-- What this database knows of itself: its cluster and its cell are NULL until it belongs to one.
CREATE TABLE cluster.state (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    cluster uuid,
    cell smallint REFERENCES cluster.cell,
    epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    CHECK ((cluster IS NULL) = (cell IS NULL))
);
INSERT INTO cluster.state DEFAULT VALUES;

GRANT USAGE ON SCHEMA cluster TO bellwether_ingest, bellwether_projector;
GRANT SELECT ON cluster.cell, cluster.map, cluster.state TO bellwether_ingest, bellwether_projector;

-- A new map is a decision about what the log accepts. After it is committed, a writer that does not know it fails at its commit,
-- however long it was delayed, and reads the map again.
CREATE CONSTRAINT TRIGGER announce_map AFTER UPDATE ON cluster.state DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.epoch IS DISTINCT FROM OLD.epoch OR NEW.cell IS DISTINCT FROM OLD.cell)
    EXECUTE FUNCTION log.announce_decision();

-- Takes a map: which cells there are, which of them this one is, and the cell of each shard, from 0. Returns false, and changes
-- nothing, if this database has a map of this epoch or a later one.
CREATE FUNCTION cluster.take_map(
    of_cluster uuid, new_epoch bigint, own smallint, new_cells smallint[], new_names text[], new_connections text[],
    holders smallint[]
) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present cluster.state;
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
    IF present.epoch >= new_epoch THEN
        RETURN false;
    END IF;
    DELETE FROM cluster.map;
    DELETE FROM cluster.cell WHERE cell <> ALL (new_cells);
    INSERT INTO cluster.cell (cell, name, connection)
    SELECT * FROM unnest(new_cells, new_names, new_connections)
    ON CONFLICT (cell) DO UPDATE SET name = excluded.name, connection = excluded.connection;
    INSERT INTO cluster.map (shard, cell)
    SELECT place - 1, cell FROM unnest(holders) WITH ORDINALITY AS h (cell, place);
    UPDATE cluster.state SET cluster = of_cluster, cell = own, epoch = new_epoch;
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION cluster.take_map FROM PUBLIC;
