-- Why: the buttons of a notification show only when it is pressed and held, so delivered is not exposure. Whoever opened
-- the content extension or tapped a button has seen the buttons.

-- Steps hold rows of it from beginning to end: none is under way while tables change.
LOCK TABLE projection.progress IN EXCLUSIVE MODE;

-- A projector that comes when the log is no longer empty stands at version 0, so that who runs the projections finds it to
-- be built like one whose rules have changed.
CREATE OR REPLACE FUNCTION projection.add_projector(new_name text, new_version integer, parents text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    live integer := (SELECT id FROM projection.line WHERE state = 'live');
    parent text;
BEGIN
    FOREACH parent IN ARRAY parents LOOP
        PERFORM projection.make_table(parent, 0);
        PERFORM projection.make_table(parent, live);
    END LOOP;
    INSERT INTO projection.projector (line, name, version, tables) VALUES (live, new_name, new_version, live);
    UPDATE projection.projector
    SET version = 0, stopped_at = now(), stopped_batch = 1,
        stopped_because = 'it is new and has yet to be built from the log'
    WHERE line = live AND name = new_name
        AND EXISTS (SELECT FROM projection.progress WHERE line = live AND position > 0);
END
$$;

CREATE TABLE projection.category_exposures (
    exposed bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.add_projector('category_exposures', 1, '{category_exposures}');

-- Of what retention has sealed, how many were expanded and how many had a button tapped is known, but not how many both:
-- at least the greater of the two were exposed. Fewer than had a button tapped would make rates over 1.
INSERT INTO projection.category_exposures_0 (exposed, tables, app, day, category, shard)
SELECT greatest(expanded, action_tapped), 0, app, day, category, shard
FROM projection.category_funnel_0 WHERE greatest(expanded, action_tapped) > 0;
