-- Why: what pressure_funnel and stack_depth_funnel say of a delivery depends on others, so they are computed when they are
-- read, which takes ten seconds for a day of a million deliveries. Results of such days are kept, each with a fingerprint
-- of all that it depends on.

-- How often the deliveries of a day have changed, or its installs that turned notifications off. Each transaction that
-- changes some counts up one row a day: that of the smallest shard that it has locked, so no two want the same row. Rows
-- are deleted with their generation and not before, so the sum over some days is another one after each change.
CREATE TABLE projection.day_revision (
    revision bigint NOT NULL,
    generation integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (generation, app, day, shard)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05);

-- The results. Whoever makes one inserts its row first, and updates it in another transaction. Erasure deletes rows, and
-- locks the table until it commits: so a result that still has what was erased finds its row gone, and is discarded.
CREATE TABLE projection.kept_day (
    -- Of when it is.
    made_at timestamptz,
    -- It is not made again before.
    due_at timestamptz NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    -- The days that it depends on.
    first_day date NOT NULL,
    last_day date NOT NULL,
    view text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C",
    -- An array with an object for each row of the view. NULL before the first success, and if there are too many.
    rows jsonb,
    PRIMARY KEY (view, app, day)
);

-- The fold only ever counts up.
REVOKE DELETE ON projection.day_revision FROM bellwether_projector;
