-- Why: whoever opens the pages of `bellwether look` from another machine shows a key. It belongs to a person or a team,
-- not to an app: it reads every app. Only its hash is stored, and a revoked one stays, so that its name is not given to
-- somebody else.
CREATE TABLE log.reader_key (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

GRANT USAGE ON SCHEMA log TO bellwether_look;
GRANT SELECT ON log.reader_key TO bellwether_look;
