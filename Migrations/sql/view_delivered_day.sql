-- Why: some funnels are computed day by day when they are read. These are the days of an app that have a delivery.
CREATE OR REPLACE VIEW projection.delivered_day AS
SELECT app, day FROM projection.category_funnel
WHERE generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'category_funnel')
GROUP BY app, day
HAVING sum(delivered) > 0;

REVOKE INSERT, UPDATE, DELETE ON projection.delivered_day FROM bellwether_projector;
