-- Why: a page that turned by itself was not turned by anybody. Where the events say which, advances are counted as one or
-- the other; where they do not, by how long the page stood, so that it can be told when the campaign's payload is known.
LOCK TABLE projection.progress IN EXCLUSIVE MODE;

-- Raises the version of a projector's rules where nothing was counted yet. Where something was, its tables hold what the
-- older rules counted, and have to be built anew.
CREATE FUNCTION projection.raise_version(of_projector text, new_version integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE projection.projector AS p SET version = new_version
    WHERE p.name = of_projector
        AND EXISTS (SELECT FROM projection.line AS l WHERE l.id = p.line AND l.state = 'live')
        AND NOT EXISTS (SELECT FROM projection.progress AS g WHERE g.line = p.line AND g.position > 0)
$$;
REVOKE ALL ON FUNCTION projection.raise_version FROM PUBLIC;

ALTER TABLE projection.story_page_funnel
    ADD COLUMN auto_advances bigint NOT NULL DEFAULT 0,
    ADD COLUMN manual_advances bigint NOT NULL DEFAULT 0;

-- Advances that the events do not tell. `gap` is how long the page stood, in twentieths of a second: 2n is n tenths to the
-- microsecond, 2n + 1 more than that and less than n + 1 tenths. So they are within 0.4 s of d tenths exactly when their
-- gap lies from 2 * (d - 4) to 2 * (d + 4).
CREATE TABLE projection.story_page_gaps (
    advances bigint NOT NULL,
    tables integer NOT NULL,
    app integer NOT NULL,
    day date NOT NULL,
    category integer NOT NULL,
    campaign integer NOT NULL,
    page_index smallint NOT NULL,
    gap smallint NOT NULL,
    shard smallint NOT NULL,
    PRIMARY KEY (app, day, category, campaign, page_index, gap, shard, tables)
) PARTITION BY LIST (tables);

SELECT projection.make_table('story_page_gaps', 0);
SELECT projection.make_table('story_page_gaps', tables) FROM projection.live WHERE name = 'story_page_funnel';
SELECT projection.raise_version('story_page_funnel', 2);
