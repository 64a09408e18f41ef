-- Why: a story is described by the payload of a send, and may be sent again next week under the same name. So the
-- stories of a day are described by the newest send of their campaign and variant up to the end of that day; if there
-- is none, by that of the campaign without variant; and if nothing was sent by then as far as is known, by the earliest
-- send after it. The sends of a later day change nothing of a day that has one.
CREATE OR REPLACE VIEW sends.day_story AS
SELECT
    app.id AS app, f.day, f.campaign, f.variant, name.campaign AS campaign_name, name.variant AS variant_name,
    coalesce(
        (
            SELECT s.number FROM sends.send AS s
            WHERE s.app = app.id AND s.campaign = name.campaign AND s.variant = name.variant AND s.story IS NOT NULL
                AND s.sent_at < name.ends
            ORDER BY s.sent_at DESC, s.id DESC LIMIT 1
        ), (
            SELECT s.number FROM sends.send AS s
            WHERE s.app = app.id AND s.campaign = name.campaign AND s.variant = '' AND s.story IS NOT NULL
                AND s.sent_at < name.ends
            ORDER BY s.sent_at DESC, s.id DESC LIMIT 1
        ), (
            SELECT s.number FROM sends.send AS s
            WHERE s.app = app.id AND s.campaign = name.campaign AND s.variant = name.variant AND s.story IS NOT NULL
                AND s.sent_at >= name.ends
            ORDER BY s.sent_at, s.id LIMIT 1
        ), (
            SELECT s.number FROM sends.send AS s
            WHERE s.app = app.id AND s.campaign = name.campaign AND s.variant = '' AND s.story IS NOT NULL
                AND s.sent_at >= name.ends
            ORDER BY s.sent_at, s.id LIMIT 1
        )) AS send
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day, campaign, variant
    FROM projection.story_funnel
    WHERE story_funnel.app = app.id
        AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'story_funnel'))
    GROUP BY day, campaign, variant
    HAVING sum(stories) > 0
) AS f
LEFT JOIN log.word AS campaign ON campaign.id = f.campaign
LEFT JOIN log.word AS variant ON variant.id = f.variant
CROSS JOIN LATERAL (
    SELECT
        coalesce(campaign.value, '') AS campaign, coalesce(variant.value, '') AS variant,
        (f.day + 1)::timestamp AT TIME ZONE app.time_zone AS ends
) AS name;
