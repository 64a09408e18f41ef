-- Why: which button is dead, and is it the button or the layout? Nobody can tap what nobody has seen, so no button is
-- called untapped before it was seen often enough. Everything of an app is summed once, over all its days.
CREATE OR REPLACE VIEW analytics.category_buttons AS
SELECT
    app.slug AS app, b.category, b.action_id, b.position, b.title, b.answer, b.exposures, b.tapped_deliveries, b.taps,
    b.tapped_deliveries / nullif(b.exposures, 0)::numeric AS tap_rate,
    CASE
        WHEN b.is_registered IS NULL THEN 'unregistered'
        WHEN NOT b.is_registered THEN 'retired'
        WHEN b.tapped_deliveries > 0 THEN 'tapped'
        WHEN b.exposures IS NULL AND b.position >= 3 THEN 'may_be_cut_off'
        WHEN b.exposures IS NULL THEN 'exposure_unknown'
        WHEN b.exposures >= 299 THEN 'untapped'
        ELSE 'too_few'
    END AS verdict,
    -- 1 - 0.05^(1/n): were it tapped more often than this, none of n would have been seen one time in twenty at most.
    CASE
        WHEN b.is_registered AND b.tapped_deliveries = 0 AND b.exposures > 0
        THEN (1 - power(0.05::double precision, 1 / b.exposures::double precision))::numeric
    END AS rate_bound,
    b.titles, b.registered_at, b.retired_at
FROM log.app AS app
CROSS JOIN LATERAL (
    WITH tapped AS (
        SELECT
            coalesce(category.value, '') AS category, coalesce(action_id.value, '') AS action_id,
            sum(a.tapped_deliveries)::bigint AS tapped_deliveries, sum(a.taps)::bigint AS taps,
            min(a.day) FILTER (WHERE a.tapped_deliveries > 0) AS first_day,
            max(a.day) FILTER (WHERE a.tapped_deliveries > 0) AS last_day
        FROM (
            SELECT day, category, action_id, sum(tapped_deliveries) AS tapped_deliveries, sum(taps) AS taps
            FROM projection.category_actions
            WHERE category_actions.app = app.id
                AND (
                    tables = 0
                    OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'category_actions')
                )
            GROUP BY day, category, action_id
        ) AS a
        LEFT JOIN log.word AS category ON category.id = a.category
        LEFT JOIN log.word AS action_id ON action_id.id = a.action_id
        GROUP BY 1, 2
        HAVING sum(a.tapped_deliveries) > 0
    ), exposed AS (
        SELECT coalesce(category.value, '') AS category, e.day, e.exposed
        FROM (
            SELECT day, category, sum(exposed) AS exposed
            FROM projection.category_exposures
            WHERE category_exposures.app = app.id
                AND (
                    tables = 0
                    OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'category_exposures')
                )
            GROUP BY day, category
        ) AS e
        LEFT JOIN log.word AS category ON category.id = e.category
    ), known AS (
        SELECT * FROM registry.known_button AS k WHERE k.app = app.id
    ), button AS (
        SELECT
            coalesce(known.category, tapped.category) AS category,
            coalesce(known.action_id, tapped.action_id) AS action_id,
            known.is_registered, known.position, known.title, known.titles, known.answer, known.content_extension,
            known.registered_at, known.retired_at,
            coalesce(tapped.tapped_deliveries, 0) AS tapped_deliveries, coalesce(tapped.taps, 0) AS taps,
            -- Nobody saw it before it was added; but a tap before it was registered shows that it was there.
            CASE
                WHEN known.was_added
                THEN least((known.registered_at AT TIME ZONE app.time_zone)::date, tapped.first_day)
            END AS first_day,
            CASE
                WHEN known.retired_at IS NOT NULL
                THEN greatest((known.retired_at AT TIME ZONE app.time_zone)::date, tapped.last_day)
            END AS last_day
        FROM known FULL JOIN tapped ON tapped.category = known.category AND tapped.action_id = known.action_id
    )
    SELECT
        button.category, button.action_id, button.is_registered, button.position, button.title, button.titles,
        button.answer, button.registered_at, button.retired_at, button.tapped_deliveries, button.taps,
        CASE WHEN button.content_extension THEN coalesce(sum(exposed.exposed), 0)::bigint END AS exposures
    FROM button
    LEFT JOIN exposed ON exposed.category = button.category AND button.content_extension
        AND exposed.day BETWEEN coalesce(button.first_day, '-infinity') AND coalesce(button.last_day, 'infinity')
    GROUP BY
        button.category, button.action_id, button.is_registered, button.position, button.title, button.titles,
        button.answer, button.registered_at, button.retired_at, button.tapped_deliveries, button.taps,
        button.content_extension
) AS b;

COMMENT ON VIEW analytics.category_buttons IS 'Every button that was ever registered or tapped, with what can be said of it from all days together. On iPhone buttons show only after press and hold, so deliveries are not exposures. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.category_buttons.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.category_buttons.category IS 'Notification category, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.category_buttons.action_id IS 'Identifier of the button';
COMMENT ON COLUMN analytics.category_buttons.position IS 'Its place among the buttons of the category, from 1, as registered now or last; null where it never was';
COMMENT ON COLUMN analytics.category_buttons.title IS 'Its registered title in English, else in the language that was named first';
COMMENT ON COLUMN analytics.category_buttons.answer IS 'What a tap of it means: accept, decline, later or close; null where none is registered';
COMMENT ON COLUMN analytics.category_buttons.exposures IS 'Deliveries on which it was to be seen: expanded or with a tap of any button. Of a button that was added to a registered category, from its registration or first tap on; of a retired one, until then or its last tap. Known only where content_extension is registered, else null. A button below the fold may have been missed all the same';
COMMENT ON COLUMN analytics.category_buttons.tapped_deliveries IS 'Deliveries on which it was tapped';
COMMENT ON COLUMN analytics.category_buttons.taps IS 'Taps of it, repeated ones too';
COMMENT ON COLUMN analytics.category_buttons.tap_rate IS 'tapped_deliveries / exposures; null where exposures are unknown or 0';
COMMENT ON COLUMN analytics.category_buttons.verdict IS 'tapped; untapped (never, in at least 299 exposures: its rate is below 1 % with 95 in 100 sure); too_few (never, but seen too rarely to say so); exposure_unknown (never, and who saw it is unknown); may_be_cut_off (the same at position 3 or beyond: a banner shows two); retired (registered earlier, not now); unregistered (tapped, never registered)';
COMMENT ON COLUMN analytics.category_buttons.rate_bound IS 'Of a button that was never tapped, the tap rate that is ruled out with 95 in 100 sure: 1 - 0.05^(1/exposures). Deliveries are taken for independent; an install that ignores everything makes them less so';
COMMENT ON COLUMN analytics.category_buttons.titles IS 'Its registered titles by language';
COMMENT ON COLUMN analytics.category_buttons.registered_at IS 'Time from which on it is registered without a break, or was until it was retired';
COMMENT ON COLUMN analytics.category_buttons.retired_at IS 'Time from which on it is no longer registered; null while it is';

GRANT SELECT ON analytics.category_buttons TO bellwether_analyst;
