-- Why: how stories end, by campaign.
CREATE OR REPLACE VIEW analytics.story_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(category.value, '') AS category, coalesce(campaign.value, '') AS campaign,
    f.stories::bigint AS stories, f.started::bigint AS started, f.completed::bigint AS completed,
    f.exit_clicked::bigint AS exit_clicked, f.exit_finished::bigint AS exit_finished,
    f.exit_fallback::bigint AS exit_fallback, f.exit_abandoned::bigint AS exit_abandoned,
    f.completed / nullif(f.started, 0) AS completion_rate,
    f.exit_fallback / nullif(f.stories, 0) AS fallback_rate
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, category, campaign, sum(stories) AS stories, sum(started) AS started, sum(completed) AS completed,
        sum(exit_clicked) AS exit_clicked, sum(exit_finished) AS exit_finished, sum(exit_fallback) AS exit_fallback,
        sum(exit_abandoned) AS exit_abandoned
    FROM projection.story_funnel
    WHERE story_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'story_funnel'))
    GROUP BY day, category, campaign
    HAVING sum(stories) > 0
) AS f
LEFT JOIN log.word AS category ON category.id = f.category
LEFT JOIN log.word AS campaign ON campaign.id = f.campaign;

COMMENT ON VIEW analytics.story_funnel IS 'How the stories (notifications whose content extension plays pages) of each campaign ended. The four exits add up to stories. A story that nobody pressed and held was never opened and is not here. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.story_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.story_funnel.day IS 'Day of the deliveries'' first events in the time zone of the app';
COMMENT ON COLUMN analytics.story_funnel.category IS 'Notification category, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.story_funnel.campaign IS 'Campaign, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.story_funnel.stories IS 'Deliveries with any story event';
COMMENT ON COLUMN analytics.story_funnel.started IS 'Deliveries whose story started';
COMMENT ON COLUMN analytics.story_funnel.completed IS 'Deliveries whose story was shown to the end, whatever its exit';
COMMENT ON COLUMN analytics.story_funnel.exit_clicked IS 'Deliveries with a tap of a page''s call to action';
COMMENT ON COLUMN analytics.story_funnel.exit_finished IS 'Else: shown to the end';
COMMENT ON COLUMN analytics.story_funnel.exit_fallback IS 'Else: the fallback was shown, and no page';
COMMENT ON COLUMN analytics.story_funnel.exit_abandoned IS 'Else: left on the way';
COMMENT ON COLUMN analytics.story_funnel.completion_rate IS 'completed / started; null where started is 0';
COMMENT ON COLUMN analytics.story_funnel.fallback_rate IS 'exit_fallback / stories: how often there was no page to show';

GRANT SELECT ON analytics.story_funnel TO bellwether_analyst;
