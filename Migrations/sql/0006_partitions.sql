-- Why: monthly partitions are created in advance, never on the write path. Creating one waits for every open SELECT,
-- and inserts would queue behind it. So each attempt gives up after a tenth of a second, and the keeper tries again
-- later. The default partition takes events with absurd times. A partition cannot be created while the default one
-- holds rows of its range, so these rows are moved in the same transaction. Writers wait during the move: so a month
-- with too many rows in the default partition gets no partition of its own.
CREATE TABLE log.event_elsewhere PARTITION OF log.event DEFAULT;
GRANT SELECT ON log.event_elsewhere TO bellwether_ingest;  -- to see which months have rows there
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.event_elsewhere FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

CREATE TABLE log.partition (
    month date PRIMARY KEY CHECK (date_trunc('month', month) = month),
    name text NOT NULL UNIQUE,
    made_at timestamptz NOT NULL DEFAULT now(),
    -- How retention removes a month, step by step: closed (accepts no more events), counted (its losses are recorded),
    -- dropped. The row stays, so that the month is never created again.
    closed_at timestamptz,
    counted_at timestamptz CHECK (counted_at IS NULL OR closed_at IS NOT NULL),
    dropped_at timestamptz CHECK (dropped_at IS NULL OR counted_at IS NOT NULL)
);

-- Creates the partition of this month if there is none. Returns true if it created it, false if it exists, and NULL if
-- there are too many rows to move.
--
-- A SELECT lists the partitions first and takes its snapshot later. If rows moved in between, it would find them
-- neither in their old place nor in the new partition, which is not on its list. So a move locks the whole table: it
-- waits for readers that have listed the partitions, and new readers wait for it. A month created in advance has
-- nothing to move and makes no writer wait.
CREATE FUNCTION log.make_partition(of_month date, most_moved bigint DEFAULT 20000) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' SET timezone = 'UTC'
AS $$
DECLARE
    first date := date_trunc('month', of_month)::date;
    lower timestamptz := first::timestamp AT TIME ZONE 'UTC';
    upper timestamptz := (first + interval '1 month')::timestamp AT TIME ZONE 'UTC';
    name text := 'event_' || to_char(first, 'YYYY_MM');
    strays bigint;
BEGIN
    IF first < date '2000-01-01' OR first > now() + interval '1 year' THEN
        RAISE EXCEPTION 'cannot create a partition for %: too far from now', first USING ERRCODE = 'invalid_parameter_value';
    END IF;
    LOCK TABLE log.partition IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM log.partition WHERE month = first) THEN
        RETURN false;
    END IF;
    SELECT count(*) INTO strays FROM (
        SELECT FROM log.event_elsewhere WHERE device_at >= lower AND device_at < upper LIMIT most_moved + 1) AS stray;
    IF strays > most_moved THEN
        RETURN NULL;
    END IF;
    -- Lock in the order in which readers do: the table, then its partitions.
    IF strays > 0 THEN
        LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE;
    END IF;
    LOCK TABLE log.event_elsewhere IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE log.%I (LIKE log.event INCLUDING ALL)', name);
    -- Rows are only added. By default autovacuum waits until a fifth of the table is new: in a big month that is too
    -- late for the visibility map.
    EXECUTE format('ALTER TABLE log.%I SET (autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.05)', name);
    IF EXISTS (SELECT FROM log.event_elsewhere WHERE device_at >= lower AND device_at < upper) THEN
        LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE;  -- needed if the first stray row came after the count above
        PERFORM log.open_gate();
        EXECUTE format('INSERT INTO log.%I SELECT * FROM log.event_elsewhere WHERE device_at >= $1 AND device_at < $2', name)
            USING lower, upper;
        DELETE FROM log.event_elsewhere WHERE device_at >= lower AND device_at < upper;
        PERFORM set_config('bellwether.gate', '', true);
    END IF;
    EXECUTE format('ALTER TABLE log.event ATTACH PARTITION log.%I FOR VALUES FROM (%L) TO (%L)', name, lower, upper);
    EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.%I
        FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change()', name);
    INSERT INTO log.partition (month, name) VALUES (first, name);
    RETURN true;
END
$$;
REVOKE ALL ON FUNCTION log.make_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.make_partition TO bellwether_ingest;
GRANT SELECT ON log.partition TO bellwether_ingest;

SELECT log.make_partition((date_trunc('month', now()) + month * interval '1 month')::date)
FROM generate_series(-1, 2) AS month;
