-- Why: which buttons are dead, and is the button to blame or the layout? Nobody can tap a button that nobody has seen,
-- so a button is called untapped only after enough exposures. Counts are summed over all days of an app.
CREATE OR REPLACE VIEW analytics.category_buttons AS
SELECT
    app.slug AS app, b.category, b.action_id, b.position, b.title, b.answer, b.exposures, b.tapped_deliveries, b.taps,
    round(b.tapped_deliveries / nullif(b.exposures, 0)::numeric, 4) AS tap_rate,
    CASE
        WHEN b.is_registered IS NULL THEN 'unregistered'
        WHEN NOT b.is_registered THEN 'retired'
        WHEN b.tapped_deliveries > 0 THEN 'tapped'
        WHEN b.exposures IS NULL AND b.position >= 3 THEN 'may_be_cut_off'
        WHEN b.exposures IS NULL THEN 'exposure_unknown'
        WHEN b.exposures >= 299 THEN 'untapped'
        ELSE 'too_few'
    END AS verdict,
    -- 1 - 0.05^(1/n): with a higher tap rate, the chance of no tap in n exposures would be at most one in twenty. It is
    -- a bound, so it is rounded up.
    CASE
        WHEN b.is_registered AND b.tapped_deliveries = 0 AND b.exposures > 0
        THEN round(ceil(10000 * (1 - power(0.05::double precision, 1 / b.exposures::double precision)))::numeric / 10000, 4)
    END AS rate_bound,
    b.titles, b.registered_at, b.retired_at
FROM log.app AS app
CROSS JOIN LATERAL (
    WITH tapped AS (
        SELECT
            category, action_id, sum(tapped_deliveries)::bigint AS tapped_deliveries, sum(taps)::bigint AS taps,
            min(day) FILTER (WHERE tapped_deliveries > 0) AS first_day,
            max(day) FILTER (WHERE tapped_deliveries > 0) AS last_day
        FROM counted.category_actions AS c WHERE c.app = app.id
        GROUP BY category, action_id
        HAVING sum(tapped_deliveries) > 0
    ), exposed AS (
        SELECT category, day, exposed FROM counted.category_exposures AS c WHERE c.app = app.id
    ), known AS (
        SELECT * FROM registry.shown_button AS k WHERE k.app = app.id
    ), button AS (
        SELECT
            coalesce(known.category, tapped.category) AS category,
            coalesce(known.action_id, tapped.action_id) AS action_id,
            known.is_registered, known.position, known.title, known.titles, known.answer,
            coalesce(known.content_extension, registered.content_extension) AS content_extension,
            known.registered_at, known.retired_at,
            coalesce(tapped.tapped_deliveries, 0) AS tapped_deliveries, coalesce(tapped.taps, 0) AS taps,
            -- Nobody could see the button before it was added. But a tap before its registration shows that it was
            -- there.
            CASE
                WHEN known.was_added
                THEN least((known.registered_at AT TIME ZONE app.time_zone)::date, tapped.first_day)
            END AS first_day,
            CASE
                WHEN known.retired_at IS NOT NULL
                THEN greatest((known.retired_at AT TIME ZONE app.time_zone)::date, tapped.last_day)
            END AS last_day
        FROM known FULL JOIN tapped ON tapped.category = known.category AND tapped.action_id = known.action_id
        LEFT JOIN registry.shown_category AS registered
            ON registered.app = app.id AND registered.category = tapped.category
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

COMMENT ON VIEW analytics.category_buttons IS 'Every button that was ever registered or tapped, with its counts over all days and a verdict. An iPhone shows buttons only after press and hold, so a delivery is not an exposure. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.category_buttons.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.category_buttons.category IS 'Notification category; '''' for deliveries without one';
COMMENT ON COLUMN analytics.category_buttons.action_id IS 'Identifier of the button';
COMMENT ON COLUMN analytics.category_buttons.position IS 'Position among the buttons of the category, from 1, as registered now or last; null if it was never registered';
COMMENT ON COLUMN analytics.category_buttons.title IS 'Registered title in English, else in the first language given';
COMMENT ON COLUMN analytics.category_buttons.answer IS 'What a tap of it means: accept, decline, later or close; null if no meaning is registered';
COMMENT ON COLUMN analytics.category_buttons.exposures IS 'Deliveries on which the button could be seen: those that were expanded, or had any button tapped. For a button that was added to a registered category, they count from its registration or first tap on; for a retired one, until its retirement or last tap. Null unless the category is registered with content_extension. People may still have missed a button further down';
COMMENT ON COLUMN analytics.category_buttons.tapped_deliveries IS 'Deliveries on which it was tapped';
COMMENT ON COLUMN analytics.category_buttons.taps IS 'Taps of it, including repeated ones';
COMMENT ON COLUMN analytics.category_buttons.tap_rate IS 'tapped_deliveries / exposures; null if exposures are unknown or 0';
COMMENT ON COLUMN analytics.category_buttons.verdict IS 'tapped; untapped (no tap in at least 299 exposures: its tap rate is below 1 % with 95 % confidence); too_few (no tap, but too few exposures to say more); exposure_unknown (no tap, and it is not known who saw it); may_be_cut_off (the same at position 3 or later: a banner shows only two buttons); retired (registered earlier, not now); unregistered (tapped, but never registered)';
COMMENT ON COLUMN analytics.category_buttons.rate_bound IS 'For a registered button without taps: tap rates above this value are ruled out with 95 % confidence: 1 - 0.05^(1/exposures). This takes deliveries to be independent; installs that ignore everything make them less so';
COMMENT ON COLUMN analytics.category_buttons.titles IS 'Registered titles by language';
COMMENT ON COLUMN analytics.category_buttons.registered_at IS 'Since when it has been registered without a break; for a retired one, since when it had been';
COMMENT ON COLUMN analytics.category_buttons.retired_at IS 'Since when it is no longer registered; null while it is registered';

GRANT SELECT ON analytics.category_buttons TO bellwether_analyst;
