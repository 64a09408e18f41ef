-- Why: a story is described by the payload of a send, and may be sent again next week under the same name. So the
-- stories of a day are described by the newest send of their campaign and variant up to the end of that day; if there
-- is none, by that of the campaign without variant; and if nothing was sent by then as far as is known, by the earliest
-- send after it. The sends of a later day change nothing of a day that has one. `story_page_funnel` has the same lookup.
CREATE OR REPLACE VIEW sends.day_story AS
SELECT
    app.id AS app, f.day, f.campaign, f.variant,
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
        )) AS send
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT c.day, c.campaign, c.variant, (c.day + 1)::timestamp AT TIME ZONE app.time_zone AS ends
    FROM counted.story_funnel AS c WHERE c.app = app.id
    GROUP BY c.day, c.campaign, c.variant
    HAVING sum(c.stories) > 0
) AS f;
