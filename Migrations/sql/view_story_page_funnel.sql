-- Why: where in a story people leave, page by page. Titles and durations are those of the story as it was on that day.
-- If the events do not say why a page was turned, the view compares how long it was shown with that duration.
CREATE OR REPLACE VIEW analytics.story_page_funnel AS
SELECT
    app.slug AS app, f.day, f.category, f.campaign, f.variant,
    f.page_index::smallint AS page_index, f.planned::bigint AS planned, f.reached::bigint AS reached,
    f.shown::bigint AS shown,
    f.views::bigint AS views, f.clicked::bigint AS clicked, f.exited::bigint AS exited,
    f.dwell_ms::bigint AS dwell_ms, f.dwells::bigint AS dwells,
    round(f.clicked / nullif(f.shown, 0), 4) AS click_rate,
    round(f.dwell_ms / nullif(1000 * f.dwells, 0), 4) AS mean_dwell_seconds,
    page.title AS page_title, page.declared_ms::bigint AS declared_ms,
    (f.auto_advances + coalesce(gaps.auto, 0))::bigint AS auto_advances,
    (f.manual_advances + coalesce(gaps.manual, 0))::bigint AS manual_advances,
    coalesce(gaps.unexplained, 0)::bigint AS unexplained_advances
FROM log.app AS app
CROSS JOIN LATERAL (
    -- A page without a row of its own has the same planned and reached as the next page that has one.
    SELECT
        s.day, s.category, s.campaign, s.variant, page.page_index, s.planned, s.reached,
        (s.day + 1)::timestamp AT TIME ZONE app.time_zone AS ends,
        CASE WHEN own.here THEN s.shown ELSE 0 END AS shown, CASE WHEN own.here THEN s.views ELSE 0 END AS views,
        CASE WHEN own.here THEN s.clicked ELSE 0 END AS clicked, CASE WHEN own.here THEN s.exited ELSE 0 END AS exited,
        CASE WHEN own.here THEN s.dwell_ms ELSE 0 END AS dwell_ms, CASE WHEN own.here THEN s.dwells ELSE 0 END AS dwells,
        CASE WHEN own.here THEN s.auto_advances ELSE 0 END AS auto_advances,
        CASE WHEN own.here THEN s.manual_advances ELSE 0 END AS manual_advances, CASE WHEN own.here THEN s.gaps END AS gaps
    FROM (
        SELECT
            day, category, campaign, variant, page_index, sum(sum(last)) OVER later AS planned, sum(sum(furthest)) OVER later AS reached,
            lead(page_index, 1, -1::smallint) OVER later AS earlier, sum(shown) AS shown, sum(views) AS views,
            sum(clicked) AS clicked, sum(exited) AS exited, sum(dwell_ms) AS dwell_ms, sum(dwells) AS dwells,
            sum(auto_advances) AS auto_advances, sum(manual_advances) AS manual_advances,
            jsonb_agg(gaps) AS gaps
        FROM counted.story_page_funnel AS c WHERE c.app = app.id
        GROUP BY day, category, campaign, variant, page_index
        WINDOW later AS (PARTITION BY day, category, campaign, variant ORDER BY page_index DESC)
    ) AS s
    CROSS JOIN LATERAL generate_series(s.earlier + 1, s.page_index) AS page (page_index)
    CROSS JOIN LATERAL (SELECT page.page_index = s.page_index AS here) AS own
    WHERE s.planned > 0
) AS f
-- The same lookup as in `sends.day_story`, which would ask what was counted again: on a hub once more in each cell.
LEFT JOIN LATERAL (
    SELECT p.title, p.declared_ms FROM sends.story_page AS p
    WHERE p.page_index = f.page_index AND p.send =
        coalesce(
            (
                SELECT s.number FROM sends.send AS s
                WHERE s.app = app.id AND s.campaign = f.campaign AND s.variant = f.variant AND s.story IS NOT NULL
                    AND s.sent_at < f.ends
                ORDER BY s.sent_at DESC, s.id DESC LIMIT 1
            ), (
                SELECT s.number FROM sends.send AS s
                WHERE s.app = app.id AND s.campaign = f.campaign AND s.variant = '' AND s.story IS NOT NULL
                    AND s.sent_at < f.ends
                ORDER BY s.sent_at DESC, s.id DESC LIMIT 1
            ), (
                SELECT s.number FROM sends.send AS s
                WHERE s.app = app.id AND s.campaign = f.campaign AND s.variant = f.variant AND s.story IS NOT NULL
                    AND s.sent_at >= f.ends
                ORDER BY s.sent_at, s.id LIMIT 1
            ), (
                SELECT s.number FROM sends.send AS s
                WHERE s.app = app.id AND s.campaign = f.campaign AND s.variant = '' AND s.story IS NOT NULL
                    AND s.sent_at >= f.ends
                ORDER BY s.sent_at, s.id LIMIT 1
            ), (
                -- Names that were merged into this one come last. Mostly there are none.
                SELECT s.number FROM log.merged_word AS m
                JOIN sends.send AS s ON s.app = m.app AND s.campaign = m.sent
                WHERE (SELECT EXISTS (SELECT FROM log.merged_word)) AND m.app = app.id AND m.kind = 3 AND m.value = f.campaign
                    AND s.variant IN (f.variant, '') AND s.story IS NOT NULL
                ORDER BY
                    s.sent_at >= f.ends, s.variant <> f.variant, CASE WHEN s.sent_at < f.ends THEN s.sent_at END DESC,
                    s.sent_at, s.id LIMIT 1
            ))
    -- Looked up page by page: PostgreSQL expects a thousand pages a story, and would read those of all sends.
    OFFSET 0
) AS page ON true
-- A gap is in twentieths of a second; 0.4 s are eight of these.
LEFT JOIN LATERAL (
    SELECT
        sum(g.advances::bigint) FILTER (WHERE abs(50 * g.gap::integer - page.declared_ms) <= 400) AS auto,
        sum(g.advances::bigint) FILTER (WHERE abs(50 * g.gap::integer - page.declared_ms) > 400) AS manual,
        sum(g.advances::bigint) FILTER (WHERE page.declared_ms IS NULL) AS unexplained
    FROM jsonb_array_elements(f.gaps) AS part (gaps), jsonb_each_text(nullif(part.gaps, 'null')) AS g (gap, advances)
) AS gaps ON true;

COMMENT ON VIEW analytics.story_page_funnel IS 'What became of each page of the stories of a campaign and variant. From page to page, planned and reached never rise. Only the first 1,000 story events of a delivery count towards shown, views, clicked and dwells. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.story_page_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.story_page_funnel.day IS 'Day of each delivery''s first event in the time zone of the app';
COMMENT ON COLUMN analytics.story_page_funnel.click_rate IS 'clicked / shown; null if shown is 0';
COMMENT ON COLUMN analytics.story_page_funnel.mean_dwell_seconds IS 'Mean duration of a view in seconds: dwell_ms / dwells / 1000; null if dwells is 0';
COMMENT ON COLUMN analytics.story_page_funnel.page_title IS 'Title of the page as it was on that day (story_day_pages); null if unknown';
COMMENT ON COLUMN analytics.story_page_funnel.declared_ms IS 'Milliseconds after which the page turns by itself, as declared at that time; null if unknown';
COMMENT ON COLUMN analytics.story_page_funnel.unexplained_advances IS 'Times the page was turned forward for an unknown reason: the events do not say, and its duration is unknown';

GRANT SELECT ON analytics.story_page_funnel TO bellwether_analyst;
