-- Why: which mistakes were in the pages that people saw on a day. A page that is never shown has no events.
CREATE OR REPLACE VIEW analytics.story_day_pages AS
SELECT
    app.slug AS app, d.day, d.campaign, d.variant, p.declared_index, p.page_index,
    p.title AS page_title, p.subtitle, p.declared_ms::bigint AS declared_ms, p.button_title, p.link, p.image, p.fault,
    s.id AS send_id, s.sent_at
FROM log.app AS app
JOIN sends.day_story AS d ON d.app = app.id
JOIN sends.send AS s ON s.number = d.send
JOIN sends.story_page AS p ON p.send = d.send;

COMMENT ON VIEW analytics.story_day_pages IS 'The pages of the stories of each day in story_funnel, as they were then: as declared by the newest send of their campaign and variant up to the end of the day (else of the campaign without variant), or else by the earliest send after it';
SELECT log.describe_like('analytics.story_day_pages', 'analytics.story_pages');
COMMENT ON COLUMN analytics.story_day_pages.day IS 'Day of the stories, in the time zone of the app, as in story_funnel';
COMMENT ON COLUMN analytics.story_day_pages.campaign IS 'Campaign of the deliveries, '''' for none';
COMMENT ON COLUMN analytics.story_day_pages.variant IS 'Variant of the deliveries, '''' for none. The send may be one without variant';
COMMENT ON COLUMN analytics.story_day_pages.send_id IS 'The send whose payload declares the pages';

GRANT SELECT ON analytics.story_day_pages TO bellwether_analyst;
