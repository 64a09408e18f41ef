-- Why: whoever opens the pages of `bellwether look` from another machine shows a key. It belongs to a person or a team,
-- and reads every app, or only those that it names. Only its hash is stored, and a revoked one stays, so that its name
-- is not given to somebody else.
CREATE TABLE log.reader_key (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    -- NULL stands for all apps.
    apps text[] CHECK (cardinality(apps) > 0 AND array_position(apps, NULL) IS NULL)
);

-- When each key was last used, to some minutes: it is not written with each use. A table of its own, since the cells of
-- a cluster have the same keys, and each knows only what it was asked itself.
CREATE TABLE log.reader_use (
    name text PRIMARY KEY REFERENCES log.reader_key,
    last_used_at timestamptz NOT NULL
);

GRANT USAGE ON SCHEMA log TO bellwether_look;
GRANT SELECT ON log.reader_key TO bellwether_look;

-- Records that these keys are in use. Whoever serves pages can write nothing else.
CREATE FUNCTION log.note_reader_use(of_keys text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO log.reader_use AS u (name, last_used_at)
    SELECT name, now() FROM log.reader_key WHERE name = ANY (of_keys)
    ON CONFLICT (name) DO UPDATE SET last_used_at = now() WHERE u.last_used_at < now() - interval '5 minutes'
$$;
REVOKE ALL ON FUNCTION log.note_reader_use FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.note_reader_use TO bellwether_look;
