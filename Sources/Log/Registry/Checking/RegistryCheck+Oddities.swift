internal import Accounts
internal import Postgres
internal import Values

extension RegistryCheck {
    /// Oddities in the registry itself.
    static func registeredOddly(_ app: App, on connection: inout Connection) throws(PostgresError) -> [Finding] {
        let rows = try connection.query(
            """
            SELECT
                c.category,
                (
                    SELECT count(*) FROM registry.registered_button AS b
                    WHERE b.app = \(app.id) AND b.category = c.category
                ),
                ARRAY(
                    SELECT id FROM unnest(c.compact_actions) AS id
                    WHERE NOT EXISTS (
                        SELECT FROM registry.registered_button AS b
                        WHERE b.app = \(app.id) AND b.category = c.category AND b.action_id = id
                    )
                ),
                ARRAY(
                    SELECT e.category_set FROM registry.newest_edition AS e
                    JOIN registry.category AS other ON other.app = e.app AND other.number = e.number
                    WHERE e.app = \(app.id) AND other.category = c.category ORDER BY e.number DESC
                )
            FROM registry.registered_category AS c WHERE c.app = \(app.id) ORDER BY c.category
            """)
        var findings: [Finding] = []
        for row in rows {
            let category: String = try row.get(0)
            let buttons: Int64 = try row.get(1)
            let (unknown, sets): ([String], [String]) = (try row.get(2), try row.get(3))
            for id in unknown {
                findings.append(
                    Finding(
                        .unknownCompactAction, category, action: id, "compact_actions names no action of the category"))
            }
            if buttons > RegistryLimits.comfortableButtons {
                findings.append(Finding(.manyButtons, category, "it has \(buttons) buttons"))
            }
            if sets.count > 1 {
                findings.append(
                    Finding(
                        .twoSets, category,
                        "several sets have it: \(sets.joined(separator: ", ")). The first one is the newest and counts")
                )
            }
        }
        return findings
    }

    /// What notifications showed or reported that does not fit the registration of their category.
    static func shownOddly(_ app: App, on connection: inout Connection) throws(PostgresError) -> [Finding] {
        // Dismissals are checked only for documents of our own shape: others cannot say whether iOS reports them.
        let rows = try connection.query(
            """
            WITH registered AS (
                SELECT
                    c.category, c.category_set, c.custom_dismiss, c.content_extension,
                    (
                        SELECT count(*) FROM registry.registered_button AS b
                        WHERE b.app = \(app.id) AND b.category = c.category
                    ) AS buttons
                FROM registry.registered_category AS c WHERE c.app = \(app.id)
            )
            SELECT
                f.category, kind, sum(deliveries)::bigint, min(day), max(r.buttons)
            FROM registered AS r
            JOIN analytics.category_funnel AS f ON f.category = r.category
            CROSS JOIN LATERAL (VALUES
                -- iOS shows both; a content extension shows the buttons, and only a thumbnail of the media.
                ('media_with_buttons', f.media_attached, r.buttons > 0 AND r.content_extension),
                (
                    'dismissed_without_custom_dismiss', f.dismissed,
                    r.category_set = 'own' AND NOT EXISTS (
                        SELECT FROM registry.category AS c
                        WHERE c.app = \(app.id) AND c.category = r.category AND c.custom_dismiss
                    )
                ),
                (
                    'expanded_without_content_extension', f.expanded,
                    r.category_set = 'own' AND NOT EXISTS (
                        SELECT FROM registry.category AS c
                        WHERE c.app = \(app.id) AND c.category = r.category AND c.content_extension
                    )
                )
            ) AS odd (kind, deliveries, is_odd)
            WHERE f.app = \(app.slug) AND odd.is_odd AND odd.deliveries > 0
            GROUP BY f.category, kind
            -- A few are mistakes of single sends.
            HAVING kind <> 'media_with_buttons' OR sum(deliveries) * 100 > (
                SELECT sum(all_of_it.delivered) FROM analytics.category_funnel AS all_of_it
                WHERE all_of_it.app = \(app.slug) AND all_of_it.category = f.category
            )
            UNION ALL
            SELECT category, 'audio_media', sum(deliveries)::bigint, min(day), 0
            FROM analytics.media_funnel AS m JOIN registered AS r USING (category)
            WHERE r.category_set IN ('hive', 'preset:hive') AND app = \(app.slug) AND kind = 'audio'
                AND outcome IN ('attached', 'prefetched') AND deliveries > 0
            GROUP BY category
            ORDER BY 1, 2
            """)
        var findings: [Finding] = []
        for row in rows {
            guard let kind = Finding.Kind(rawValue: try row.get(1)) else { continue }
            let buttons: Int64 = try row.get(4)
            let detail =
                switch kind {
                case .mediaWithButtons:
                    "media were attached, the category has \(String(counting: buttons, "button", "buttons")), "
                        + "and a content extension shows it"
                case .dismissed: "dismissals are reported, and the category is registered without custom_dismiss"
                case .expanded: "a content extension showed them, and the category is registered without one"
                default: "audio was attached"
                }
            findings.append(
                Finding(
                    kind, try row.get(0), count: try row.get(2), unit: .deliveries, since: try row.get(3), detail))
        }
        return findings
    }
}
