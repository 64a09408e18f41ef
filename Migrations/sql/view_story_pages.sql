-- Why: a page has a title and a duration that only the payload knows; a page that is never shown has no event at all.
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

COMMENT ON VIEW analytics.story_pages IS 'The pages that the story of each campaign and variant declares, of the newest send that has one. A story that the player can make nothing of has no pages here';
COMMENT ON COLUMN analytics.story_pages.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.story_pages.campaign IS 'Campaign of the send, '''' for none';
COMMENT ON COLUMN analytics.story_pages.variant IS 'Variant of the campaign, '''' for none';
COMMENT ON COLUMN analytics.story_pages.declared_index IS 'Place of the page in the payload, from 0';
COMMENT ON COLUMN analytics.story_pages.page_index IS 'Place of the page among those that are shown, from 0, as story_page_funnel has it; null for a page that is never shown (fault no_image), after which later ones move up';
COMMENT ON COLUMN analytics.story_pages.page_title IS 'Title of the page; null where it has none';
COMMENT ON COLUMN analytics.story_pages.subtitle IS 'Second line of the page; null where it has none';
COMMENT ON COLUMN analytics.story_pages.declared_ms IS 'Milliseconds after which the page turns by itself: the payload''s duration up to 30 s, 5 s where it gives none that counts';
COMMENT ON COLUMN analytics.story_pages.button_title IS 'Title of the page''s button; null where it has none';
COMMENT ON COLUMN analytics.story_pages.link IS 'Where the button leads, as declared; null where it has none';
COMMENT ON COLUMN analytics.story_pages.image IS 'Address of the picture, as declared; null where it has none';
COMMENT ON COLUMN analytics.story_pages.fault IS 'What is wrong with the page, the worst of it: no_image (missing, or no URL with a scheme: the page is never shown), invalid_link (no URL with a scheme: no button is shown), button_without_link (not shown), link_without_button (nobody can follow it); null for nothing';
COMMENT ON COLUMN analytics.story_pages.send_id IS 'The send whose payload it is';
COMMENT ON COLUMN analytics.story_pages.sent_at IS 'When that was sent';

GRANT SELECT ON analytics.story_pages TO bellwether_analyst;
