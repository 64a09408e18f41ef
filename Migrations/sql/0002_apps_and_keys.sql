-- Why: every event belongs to an app and was sent with one of its keys. Keys ship inside apps and get abused, so each
-- one has a name and can be revoked alone. Only its hash is stored.
CREATE SCHEMA log;

CREATE TABLE log.app (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    time_zone text NOT NULL,
    -- Events per second, and the burst above that rate; NULL means no limit.
    rate_limit double precision CHECK (rate_limit BETWEEN 1e-6 AND 1e9),
    rate_burst double precision CHECK (rate_burst BETWEEN 1e-6 AND 1e9),
    -- Whose goals count: with 'server', `goal.reached` is taken with a server key alone.
    goals text NOT NULL DEFAULT 'any' CHECK (goals IN ('any', 'server')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE log.api_key (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app integer NOT NULL REFERENCES log.app,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    kind text NOT NULL CHECK (kind IN ('write', 'server')),
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    -- SHA-256 of what only the holder of a server key can compute, by which the log knows that an erasure was asked for
    -- with it (log.request_erasure). A write key has none.
    erasure_hash bytea CHECK (length(erasure_hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    UNIQUE (app, name),
    CHECK ((kind = 'server') = (erasure_hash IS NOT NULL))
);

GRANT USAGE ON SCHEMA log TO bellwether_ingest;
GRANT SELECT ON log.app, log.api_key TO bellwether_ingest;

-- An event without a key was sent with the first key of its app. The first key must therefore stay the first: keys are
-- never deleted, and are created one at a time, under a lock on the app's row.
CREATE FUNCTION log.keep_keys() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% on log.api_key refused: events name their keys', TG_OP
        USING ERRCODE = 'insufficient_privilege', HINT = 'Revoke the key.';
END
$$;
REVOKE ALL ON FUNCTION log.keep_keys FROM PUBLIC;
CREATE TRIGGER keep_keys BEFORE DELETE OR UPDATE OF id, app ON log.api_key FOR EACH ROW EXECUTE FUNCTION log.keep_keys();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log.api_key FOR EACH STATEMENT EXECUTE FUNCTION log.keep_keys();
