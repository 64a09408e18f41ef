-- Why: PostgreSQL analyses partitions by itself, but never the table that they make up. Without statistics of that it takes
-- the rows of an app for a two-hundredth of all, and so reads words row by row and sorts what it could hash: a question to
-- `analytics.deliveries` takes three times as long, one to `analytics.action_taps` up to ten times. Only the app is asked
-- for, since all that is joined to a row after it has a unique key.
--
-- Analyses one such table whose statistics are missing or a day old. Returns its name; NULL if there is none. A reader of
-- the log waits for nothing here, and who wants to create a partition meanwhile tries again.
CREATE FUNCTION log.analyze_whole() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' SET default_statistics_target = 10
AS $$
DECLARE
    due regclass;
BEGIN
    FOR due IN
        SELECT c.oid
        FROM pg_class AS c
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'app'
        WHERE c.relkind = 'p' AND c.relnamespace IN ('log'::regnamespace, 'projection'::regnamespace)
            -- Nothing comes of an empty table.
            AND EXISTS (
                SELECT FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhrelid
                WHERE i.inhparent = c.oid AND p.reltuples > 0)
            AND coalesce(
                pg_stat_get_last_analyze_time(c.oid) < now() - CASE
                    WHEN EXISTS (
                        SELECT FROM pg_stats AS s
                        WHERE s.schemaname = c.relnamespace::regnamespace::text AND s.tablename = c.relname
                            AND s.attname = 'app' AND s.inherited)
                    THEN interval '1 day' ELSE interval '10 minutes' END,
                true)
        ORDER BY pg_stat_get_last_analyze_time(c.oid) NULLS FIRST, c.oid
    LOOP
        BEGIN
            EXECUTE format('ANALYZE %s (app)', due);
            RETURN due;
        EXCEPTION WHEN lock_not_available THEN
            -- Autovacuum is at work on one of its partitions, perhaps for hours. PostgreSQL notes even this as an analysis:
            -- the next one comes in ten minutes if there are no statistics yet, else in a day.
            CONTINUE;
        END;
    END LOOP;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION log.analyze_whole FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.analyze_whole TO bellwether_projector;
