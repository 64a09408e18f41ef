-- Why: rejected events are kept, so that a bug on either side can be found and fixed. Clients also report the events
-- they had to drop, so that gaps in the data can be explained.
CREATE TABLE log.rejected (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    batch_id bigint NOT NULL,
    app integer NOT NULL REFERENCES log.app,
    key integer NOT NULL,
    received_at timestamptz NOT NULL,
    sent_at timestamptz,
    -- NULL if it could not be read. Erasure needs it.
    install_id uuid,
    event_id uuid,
    reason text NOT NULL,
    detail text NOT NULL,
    -- The envelope's source as received. A replay needs it.
    source text,
    raw text NOT NULL,
    raw_hash bytea NOT NULL,
    replayed_at timestamptz,
    UNIQUE (app, raw_hash)
);
CREATE INDEX rejected_by_time ON log.rejected (app, received_at);
-- Readers that follow the log look up the events rejected with each batch.
CREATE INDEX rejected_by_batch ON log.rejected (batch_id);
-- Erasure looks up the rejected events of an install while projectors wait.
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
    reason text,
    PRIMARY KEY (app, id)
);
CREATE INDEX client_drop_by_time ON log.client_drop (app, received_at);
CREATE INDEX client_drop_by_install ON log.client_drop (install_id, app) WHERE install_id IS NOT NULL;

GRANT SELECT, INSERT ON log.rejected, log.client_drop TO bellwether_ingest;
