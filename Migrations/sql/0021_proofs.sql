-- Why: a number can be trusted as far as somebody has proved it. `verify` notes here which days it counted again, up to
-- where, and what it found.
CREATE TABLE projection.proof (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    -- It covers the days from then on, in the time zone of each app; NULL: all days.
    since date,
    began_at timestamptz NOT NULL,
    verified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Whether every cell of those days was compared and none differed.
    is_proved boolean NOT NULL,
    differing_cells bigint NOT NULL,
    -- Up to which batch, shard by shard from 0.
    positions bigint[] NOT NULL,
    -- projection.made_of at that time. What has been built anew since, or moved to another zone, is not proved.
    made_of jsonb NOT NULL
);

-- What the live tables are made of. While it is the same, or the same with more in it, they are the same tables, with
-- the days of the same zones.
CREATE VIEW projection.made_of AS
SELECT jsonb_build_object(
    'generation', (SELECT id FROM projection.generation WHERE state = 'live'),
    'words', (SELECT words FROM log.head),
    'projectors', (
        SELECT jsonb_object_agg(p.name, format('%s %s', p.version, p.tables_generation))
        FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation AND l.state = 'live'),
    'zones', (
        SELECT coalesce(jsonb_object_agg(
            a.slug, jsonb_strip_nulls(jsonb_build_object(
                'name', a.time_zone, 'changes', coalesce(z.changes, 0), 'rules', z.rules))), '{}')
        FROM log.app AS a LEFT JOIN projection.zone AS z ON z.app = a.id)) AS made_of;

-- Only an owner notes what was proved.
REVOKE ALL ON projection.proof, projection.made_of FROM bellwether_projector;
