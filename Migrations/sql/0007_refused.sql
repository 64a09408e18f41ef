-- Why: what we could not take is kept, so that a bug on either side can be seen and mended. And clients tell what they
-- had to throw away, so that a hole in the data has a name.
CREATE TABLE log.rejected (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    batch_id bigint NOT NULL,
    app integer NOT NULL REFERENCES log.app,
    key integer NOT NULL,
    received_at timestamptz NOT NULL,
    sent_at timestamptz,
    -- Where it could be read; erasure needs it.
    install_id uuid,
    event_id uuid,
    reason text NOT NULL,
    detail text NOT NULL,
    -- The envelope's source as it came: a replay needs it.
    source text,
    raw text NOT NULL,
    raw_hash bytea NOT NULL,
    replayed_at timestamptz,
    UNIQUE (app, raw_hash)
);
CREATE INDEX rejected_by_time ON log.rejected (app, received_at);
-- Who follows the log asks what each batch refused.
CREATE INDEX rejected_by_batch ON log.rejected (batch_id);
-- Erasure looks for what was refused of an install while projectors wait.
CREATE INDEX rejected_by_install ON log.rejected (install_id, app) WHERE install_id IS NOT NULL;

CREATE TABLE log.client_drop (
    app integer NOT NULL REFERENCES log.app,
    id uuid NOT NULL,
    batch_id bigint NOT NULL,
    key integer NOT NULL,
    install_id uuid,
    received_at timestamptz NOT NULL,
    count bigint NOT NULL CHECK (count >= 0),
    since timestamptz,
    reason text NOT NULL,
    PRIMARY KEY (app, id)
);
CREATE INDEX client_drop_by_time ON log.client_drop (app, received_at);
CREATE INDEX client_drop_by_install ON log.client_drop (install_id, app) WHERE install_id IS NOT NULL;

GRANT SELECT, INSERT ON log.rejected, log.client_drop TO bellwether_ingest;
