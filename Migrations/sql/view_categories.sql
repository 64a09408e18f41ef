-- Why: the categories that each app has registered, now or earlier.
CREATE OR REPLACE VIEW analytics.categories AS
SELECT
    app.slug AS app, c.category, edition.category_set, c.number AS edition,
    (
        SELECT count(*) FROM registry.button AS b
        WHERE b.app = c.app AND b.number = c.number AND b.category = c.category
    ) AS buttons,
    c.content_extension, c.custom_dismiss, c.compact_actions, c.intent_identifiers, c.category_summary_format,
    c.hidden_previews_body_placeholder, began.registered_at,
    CASE WHEN NOT change.is_registered THEN change.changed_at END AS retired_at
FROM log.app AS app
JOIN registry.latest_change AS change ON change.app = app.id AND change.action_id = ''
CROSS JOIN LATERAL (
    SELECT e.registered_at FROM registry.change AS h
    JOIN registry.edition AS e ON e.app = h.app AND e.number = h.number
    WHERE h.app = change.app AND h.category = change.category AND h.action_id = '' AND h.is_registered
    ORDER BY h.number DESC LIMIT 1
) AS began
LEFT JOIN registry.registered_category AS now ON now.app = change.app AND now.category = change.category
JOIN registry.category AS c
    ON c.app = change.app AND c.category = change.category
    AND c.number = CASE
        WHEN change.is_registered THEN now.number
        -- The version that was registered when that edition removed the category, as for buttons.
        ELSE (
            SELECT max(k.number) FROM registry.category AS k
            JOIN registry.edition AS e ON e.app = k.app AND e.number = k.number
            WHERE k.app = change.app AND k.category = change.category AND k.number < change.number
                AND NOT EXISTS (
                    SELECT FROM registry.edition AS newer
                    WHERE newer.app = e.app AND newer.category_set = e.category_set AND newer.number > e.number
                        AND newer.number < change.number
                )
        )
    END
JOIN registry.edition AS edition ON edition.app = c.app AND edition.number = c.number;

COMMENT ON VIEW analytics.categories IS 'The notification categories that each app has registered, including retired ones. They come from bellwether categories import and PUT /v1/categories; nothing is overwritten';
COMMENT ON COLUMN analytics.categories.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.categories.category IS 'Identifier of the category';
COMMENT ON COLUMN analytics.categories.category_set IS 'The set that it is from: own, hive, preset:hive or preset:pushwoosh-stories. If several sets have the category, the newest import counts';
COMMENT ON COLUMN analytics.categories.edition IS 'Number of the import that it is from, counted for each app from 1';
COMMENT ON COLUMN analytics.categories.buttons IS 'How many buttons it has';
COMMENT ON COLUMN analytics.categories.content_extension IS 'Whether a content extension shows its notifications: only then can the app tell who has seen the buttons';
COMMENT ON COLUMN analytics.categories.custom_dismiss IS 'Whether iOS reports dismissals of its notifications';
COMMENT ON COLUMN analytics.categories.compact_actions IS 'Identifiers of the buttons that are shown where there is room for only two';
COMMENT ON COLUMN analytics.categories.intent_identifiers IS 'Siri intents for which it is offered';
COMMENT ON COLUMN analytics.categories.category_summary_format IS 'Format of the summary line for a group of its notifications';
COMMENT ON COLUMN analytics.categories.hidden_previews_body_placeholder IS 'Text that is shown while previews are hidden';
COMMENT ON COLUMN analytics.categories.registered_at IS 'Since when it has been registered without a break; for a retired one, since when it had been';
COMMENT ON COLUMN analytics.categories.retired_at IS 'Since when it is no longer registered; null while it is registered';

GRANT SELECT ON analytics.categories TO bellwether_analyst;
