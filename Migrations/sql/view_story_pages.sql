-- Why: only the payload has the titles and durations of pages, and a page that is never shown has no events.
CREATE OR REPLACE VIEW analytics.story_pages AS
SELECT
    app.slug AS app, s.campaign, s.variant, p.declared_index, p.page_index, p.title AS page_title, p.subtitle,
    p.declared_ms::bigint AS declared_ms, p.button_title, p.link, p.image, p.fault, s.id AS send_id, s.sent_at
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (s.campaign, s.variant) s.number, s.campaign, s.variant, s.id, s.sent_at
    FROM sends.send AS s WHERE s.app = app.id AND s.story IS NOT NULL
    ORDER BY s.campaign, s.variant, s.sent_at DESC, s.id DESC
) AS s
JOIN sends.story_page AS p ON p.send = s.number;

COMMENT ON VIEW analytics.story_pages IS 'The story pages declared by the newest send with a story, for each campaign and variant. What was declared at the time of an earlier day is in story_day_pages. A story that the player cannot read has no pages here';
COMMENT ON COLUMN analytics.story_pages.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.story_pages.campaign IS 'Campaign of the send, '''' for none';
COMMENT ON COLUMN analytics.story_pages.variant IS 'Variant of the campaign, '''' for none';
COMMENT ON COLUMN analytics.story_pages.declared_index IS 'Index of the page in the payload, from 0';
COMMENT ON COLUMN analytics.story_pages.page_index IS 'Index of the page among those that are shown, from 0, as in story_page_funnel; null for a page that is never shown (fault no_image)';
COMMENT ON COLUMN analytics.story_pages.page_title IS 'Title of the page; null if it has none';
COMMENT ON COLUMN analytics.story_pages.subtitle IS 'Second line of the page; null if it has none';
COMMENT ON COLUMN analytics.story_pages.declared_ms IS 'Milliseconds after which the page turns by itself: the duration in the payload, at most 30 s, or 5 s if it has no valid one';
COMMENT ON COLUMN analytics.story_pages.button_title IS 'Title of the page''s button; null if it has none';
COMMENT ON COLUMN analytics.story_pages.link IS 'Link of the button, as declared; null if it has none';
COMMENT ON COLUMN analytics.story_pages.image IS 'URL of the image, as declared; null if it has none';
COMMENT ON COLUMN analytics.story_pages.fault IS 'The worst fault of the page: no_image (missing, or not a URL with a scheme: the page is never shown), invalid_link (not a URL with a scheme: the button is not shown), button_without_link (the button is not shown), link_without_button (nobody can follow the link); null if there is none';
COMMENT ON COLUMN analytics.story_pages.send_id IS 'The send whose payload it is';
COMMENT ON COLUMN analytics.story_pages.sent_at IS 'When that send was sent';

GRANT SELECT ON analytics.story_pages TO bellwether_analyst;
