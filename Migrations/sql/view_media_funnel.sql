-- Why: whether pictures and films arrive, over which network, and whether they help.
CREATE OR REPLACE VIEW analytics.media_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(category.value, '') AS category,
    coalesce(('{image,video,audio,unknown}'::text[])[f.kind], '') AS kind,
    coalesce(('{wifi,cellular,other}'::text[])[f.network], '') AS network,
    coalesce(('{attached,prefetched,timed_out,failed,skipped,none}'::text[])[f.outcome], '') AS outcome,
    f.deliveries::bigint AS deliveries, f.responded::bigint AS responded,
    f.responded / nullif(f.deliveries, 0) AS response_rate
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day, category, kind, network, outcome, sum(deliveries) AS deliveries, sum(responded) AS responded
    FROM projection.media_funnel
    WHERE media_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'media_funnel'))
    GROUP BY day, category, kind, network, outcome
    HAVING sum(deliveries) > 0
) AS f
LEFT JOIN log.word AS category ON category.id = f.category;

COMMENT ON VIEW analytics.media_funnel IS 'Deliveries with a media outcome, by what became of the attachment: a delivery counts once, by its first event that gives an outcome. Silent ones are not here. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.media_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.media_funnel.day IS 'Day of the deliveries'' first events in the time zone of the app';
COMMENT ON COLUMN analytics.media_funnel.category IS 'Notification category, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.media_funnel.kind IS 'image, video, audio or unknown; '''' where that event does not say';
COMMENT ON COLUMN analytics.media_funnel.network IS 'Network it came over: wifi, cellular or other; '''' where that event does not say';
COMMENT ON COLUMN analytics.media_funnel.outcome IS 'attached, prefetched, timed_out, failed, skipped or none';
COMMENT ON COLUMN analytics.media_funnel.deliveries IS 'Deliveries. Only a receipt tells an outcome, so each of them has one';
COMMENT ON COLUMN analytics.media_funnel.responded IS 'Deliveries that were opened, or had a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.media_funnel.response_rate IS 'responded / deliveries, all of which have a receipt: the same measure as in category_funnel';

GRANT SELECT ON analytics.media_funnel TO bellwether_analyst;
