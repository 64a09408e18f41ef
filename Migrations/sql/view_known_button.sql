-- Why: a retired button is still tapped in old versions of the app, and keeps its title and meaning. So this view has
-- every button that was ever registered, as it is now or was last.
CREATE OR REPLACE VIEW registry.known_button AS
SELECT
    change.app, change.category, change.action_id, change.is_registered,
    button.position, button.title, button.titles, button.answer,
    category.content_extension,
    -- Since when the button has been registered without a break; for a retired one, since when it had been.
    began.registered_at, CASE WHEN NOT change.is_registered THEN change.changed_at END AS retired_at,
    -- Whether its category was already registered, without this button.
    EXISTS (
        SELECT FROM registry.change AS older
        WHERE older.app = change.app AND older.category = change.category AND older.action_id = ''
            AND older.number < began.number
    ) AS was_added
FROM registry.latest_change AS change
CROSS JOIN LATERAL (
    SELECT c.number, e.registered_at FROM registry.change AS c
    JOIN registry.edition AS e ON e.app = c.app AND e.number = c.number
    WHERE c.app = change.app AND c.category = change.category AND c.action_id = change.action_id AND c.is_registered
    ORDER BY c.number DESC LIMIT 1
) AS began
LEFT JOIN registry.registered_category AS now ON now.app = change.app AND now.category = change.category
JOIN registry.button AS button
    ON button.app = change.app AND button.category = change.category AND button.action_id = change.action_id
    AND button.number = CASE
        WHEN change.is_registered THEN now.number
        -- The version that was registered when that edition removed the button: of the editions that were the newest of
        -- their sets at that time, the newest one with this button.
        ELSE (
            SELECT max(b.number) FROM registry.button AS b
            JOIN registry.edition AS e ON e.app = b.app AND e.number = b.number
            WHERE b.app = change.app AND b.category = change.category AND b.action_id = change.action_id
                AND b.number < change.number
                AND NOT EXISTS (
                    SELECT FROM registry.edition AS newer
                    WHERE newer.app = e.app AND newer.category_set = e.category_set AND newer.number > e.number
                        AND newer.number < change.number
                )
        )
    END
JOIN registry.category AS category
    ON category.app = button.app AND category.number = button.number AND category.category = button.category
WHERE change.action_id <> '';
