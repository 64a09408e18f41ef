-- Why: the schema that analysts read. It has only views; reading them needs no privilege on the tables behind them.
CREATE SCHEMA analytics;
GRANT USAGE ON SCHEMA analytics TO bellwether_analyst;

-- A column name means the same in every view, so its comment is written once and copied to the other views.
CREATE FUNCTION log.describe_like(a_view regclass, model regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shared record;
BEGIN
    FOR shared IN
        SELECT ours.attname AS name, col_description(theirs.attrelid, theirs.attnum) AS words
        FROM pg_attribute AS ours
        JOIN pg_attribute AS theirs ON theirs.attrelid = model AND theirs.attname = ours.attname
        WHERE ours.attrelid = a_view AND ours.attnum > 0 AND theirs.attnum > 0
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', a_view, shared.name, shared.words);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION log.describe_like FROM PUBLIC;
