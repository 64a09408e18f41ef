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

-- Why: a login may read some apps only. Its views must then show nothing of the others, name none and count none. The
-- row of a login says which apps; NULL stands for all, as for a login without a row.
CREATE TABLE log.analyst (
    login text PRIMARY KEY CHECK (length(login) BETWEEN 1 AND 63),
    apps text[] CHECK (array_position(apps, NULL) IS NULL)
);

-- The apps that this session may read; NULL for all. They are those of the login, which a session cannot change. The
-- setting `bellwether.apps` takes more away, and never gives: with it `bellwether look` answers for a key.
--
-- It is said to be immutable so that PostgreSQL asks when it plans a query. For a login that reads all apps nothing of
-- the rule is then left in the plan; for another one the names of its apps are constants in it. So a plan may be kept
-- for as long as the answer: whoever changes the setting must discard the session's plans.
CREATE FUNCTION log.apps_shown() RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrowed text[] := nullif(current_setting('bellwether.apps', true), '')::text[];
    bound text[] := (SELECT a.apps FROM log.analyst AS a WHERE a.login = session_user);
BEGIN
    IF bound IS NULL OR narrowed IS NULL THEN
        RETURN coalesce(bound, narrowed);
    END IF;
    RETURN ARRAY(SELECT unnest(bound) INTERSECT SELECT unnest(narrowed));
END
$$;
REVOKE ALL ON FUNCTION log.apps_shown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.apps_shown TO bellwether_analyst, bellwether_projector;

-- The same by id.
CREATE FUNCTION log.app_ids_shown() RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shown text[] := log.apps_shown();
BEGIN
    RETURN CASE WHEN shown IS NOT NULL THEN ARRAY(SELECT id FROM log.app WHERE slug = ANY (shown)) END;
END
$$;
REVOKE ALL ON FUNCTION log.app_ids_shown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.app_ids_shown TO bellwether_analyst, bellwether_projector;

-- Puts the rule around a view that analysts read: the view as it was becomes its only source. Rows of other apps are
-- left out, and each column of theirs is NULL before anything can look at it: PostgreSQL may work out a condition of a
-- query before the rule, and a failing cast would quote the value. (A security barrier would do that, too, but a query
-- could then use no index and no order of what is behind the view, also for those who read all apps.)
--
-- A view whose rows belong to no app shows nothing to whoever may not read all, except what `projections` says of
-- positions.
CREATE FUNCTION log.bind_view(a_view regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_apps text := 'log.apps_shown() IS NULL';
    is_shown text;
    columns text;
BEGIN
    IF EXISTS (SELECT FROM log.bound_view AS b WHERE b.view = a_view) THEN
        RETURN;
    END IF;
    SELECT CASE a.atttypid
        WHEN 'text'::regtype THEN all_apps || ' OR o.app = ANY (log.apps_shown())'
        WHEN 'integer'::regtype THEN all_apps || ' OR o.app = ANY (log.app_ids_shown())' END
    INTO is_shown
    FROM pg_attribute AS a WHERE a.attrelid = a_view AND a.attname = 'app' AND NOT a.attisdropped;
    SELECT string_agg(
        CASE
            WHEN c.relname = 'projections' AND a.attname <> 'stopped_because' THEN format('o.%I', a.attname)
            -- An id tells nothing, and a condition on it must reach the keys of tables and the cells of a cluster.
            WHEN a.attname = 'app' AND a.atttypid = 'integer'::regtype THEN 'o.app'
            ELSE format('CASE WHEN %s THEN o.%I END AS %2$I', coalesce(is_shown, all_apps), a.attname)
        END, ', ' ORDER BY a.attnum)
    INTO STRICT columns
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.oid = a_view;
    EXECUTE format(
        'CREATE OR REPLACE VIEW %s AS SELECT %s FROM (%s) AS o WHERE %s', a_view, columns,
        rtrim(pg_get_viewdef(a_view), ';'),
        CASE WHEN (SELECT relname FROM pg_class WHERE oid = a_view) = 'projections' THEN 'true' ELSE coalesce(is_shown, all_apps) END);
END
$$;
REVOKE ALL ON FUNCTION log.bind_view FROM PUBLIC;

-- The views that have the rule.
CREATE VIEW log.bound_view AS
SELECT DISTINCT r.ev_class::regclass AS view
FROM pg_rewrite AS r
JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'log.apps_shown()'::regprocedure;

-- The views that analysts read, and which do not have it.
CREATE VIEW log.unbound_view AS
SELECT c.oid::regclass AS view
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND n.nspname IN ('analytics', 'cells', 'hub')
    AND has_table_privilege('bellwether_analyst', c.oid, 'SELECT')
    AND NOT EXISTS (SELECT FROM log.bound_view AS b WHERE b.view = c.oid);

-- Runs after each change of a view, so that none can be without the rule.
CREATE FUNCTION log.bind_views() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$ SELECT log.bind_view(u.view) FROM log.unbound_view AS u ORDER BY u.view::oid $$;
REVOKE ALL ON FUNCTION log.bind_views FROM PUBLIC;
