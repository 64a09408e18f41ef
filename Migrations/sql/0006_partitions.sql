-- Why: months are made ahead of need and never on the write path: making one waits behind an open SELECT, and inserts
-- would queue behind it. So each attempt gives up after a tenth of a second and is made again by the keeper. The
-- default partition takes absurd clocks; when their month comes, their rows move to it in the same transaction, since a
-- partition cannot be made while the default one holds rows of its range. Writers wait for the move, so a month that has
-- gathered too many rows there stays there.
CREATE TABLE log.event_elsewhere PARTITION OF log.event DEFAULT;
GRANT SELECT ON log.event_elsewhere TO bellwether_ingest;  -- to see which months have rows there
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.event_elsewhere FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

CREATE TABLE log.partition (
    month date PRIMARY KEY CHECK (date_trunc('month', month) = month),
    name text NOT NULL UNIQUE,
    made_at timestamptz NOT NULL DEFAULT now(),
    -- The way of a month that is taken away: closed (takes no more events), counted (its losses are written down), dropped.
    -- Its row stays, so that it is never made again.
    closed_at timestamptz,
    counted_at timestamptz CHECK (counted_at IS NULL OR closed_at IS NOT NULL),
    dropped_at timestamptz CHECK (dropped_at IS NULL OR counted_at IS NOT NULL)
);

-- A SELECT lists the partitions, waits for the move to end, and only then takes the snapshot that it reads with: it found
-- the rows that had moved neither where they had been nor in the partition that was not on its list. So a move keeps readers
-- from listing: it waits for those that have, and those that come wait for it. Months made ahead have nothing to move, and
-- hold no writer.
-- Makes the partition of this month if there is none: true if it made it, NULL if there is too much to move.
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
        RAISE EXCEPTION 'no partition is made for %: it is too far from now', first USING ERRCODE = 'invalid_parameter_value';
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
    -- In the order in which readers take them: the whole, then its parts.
    IF strays > 0 THEN
        LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE;
    END IF;
    LOCK TABLE log.event_elsewhere IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE log.%I (LIKE log.event INCLUDING ALL)', name);
    -- Rows only ever come; the default of one vacuum per fifth of the table would come too late to set the
    -- visibility map for a big month.
    EXECUTE format('ALTER TABLE log.%I SET (autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.05)', name);
    IF EXISTS (SELECT FROM log.event_elsewhere WHERE device_at >= lower AND device_at < upper) THEN
        LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE;  -- if the first one came since we counted
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
