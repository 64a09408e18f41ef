internal import Accounts
package import Postgres

/// The result of an import.
package struct Registration: Sendable {
    /// The number of the edition that holds it, counted for each app from 1.
    package let edition: Int32
    package let categories: Int
    package let buttons: Int
    /// Whether exactly this was registered before, so that nothing was added.
    package let isUnchanged: Bool
    /// What this edition added and removed, including buttons of new and retired categories.
    package let registeredButtons: Int
    package let retiredButtons: Int
    package let warnings: [Remark]
}

/// Keeps the categories of apps: each import as an edition that is never changed.
package enum Registrar {
    /// Makes a document the newest edition of its set. Doing it again changes nothing. If the key that it came with is
    /// closed by then, it fails (`keyClosed`).
    package static func register(
        _ document: CategoryDocument, of app: Int32, key: Int32? = nil, on connection: inout Connection
    ) throws(PostgresError) -> Registration {
        let content = document.categories.text
        let hash = Bytea(SHA256(of: content.utf8).bytes)
        while true {
            // Nil if another session took the number: then look again.
            let registration = try connection.transaction { connection throws(PostgresError) in
                let registration = try register(document, content, hash, of: app, on: &connection)
                if let key { try connection.query("SELECT log.require_open_key(\(key))") }
                return registration
            }
            if let registration { return registration }
        }
    }

    /// The tables that a cluster's cells have in common, those that others refer to first.
    package static let sharedTables = [
        SharedTable("registry.edition", key: ["app", "number"]),
        SharedTable("registry.category", key: ["app", "number", "category"]),
        SharedTable("registry.button", key: ["app", "number", "category", "action_id"]),
        SharedTable("registry.change", key: ["app", "category", "action_id", "number"]),
    ]

    /// The rows of an edition, for the other cells of a cluster.
    package static func rows(
        ofEdition number: Int32, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [SharedTable.Rows] {
        let (app, number) = (Statement.Parameter(app), Statement.Parameter(number))
        var rows: [SharedTable.Rows] = []
        for table in sharedTables {
            rows.append(try table.rows(where: "app = $1 AND number = $2", app, number, on: &connection))
        }
        return rows
    }

    private static func register(
        _ document: CategoryDocument, _ content: String, _ hash: Bytea, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> Registration? {
        let set = document.set.rawValue
        let newest = try connection.query(
            """
            SELECT number, content_sha256 = \(hash) FROM registry.edition
            WHERE app = \(app) AND category_set = \(set) ORDER BY number DESC LIMIT 1
            """
        ).first
        var edition: Int32
        var changed: (registered: Int, retired: Int) = (0, 0)
        let isUnchanged = try newest?.get(1, as: Bool.self) ?? false
        if isUnchanged, let newest {
            edition = try newest.get(0)
        } else {
            let added = try connection.query(
                """
                INSERT INTO registry.edition (app, number, category_set, content_sha256)
                SELECT \(app), coalesce(max(number), 0) + 1, \(set), \(hash) FROM registry.edition WHERE app = \(app)
                ON CONFLICT (app, number) DO NOTHING
                RETURNING number
                """)
            guard let row = added.first else { return nil }
            edition = try row.get(0)
            try insert(content, edition, of: app, on: &connection)
            changed = try noteChanges(edition, of: app, on: &connection)
        }
        return Registration(
            edition: edition, categories: document.categories.count,
            buttons: document.categories.reduce(0) { $0 + $1.buttons.count }, isUnchanged: isUnchanged,
            registeredButtons: changed.registered, retiredButtons: changed.retired,
            warnings: document.warnings + (try overlaps(document, of: app, on: &connection)))
    }

    private static func insert(
        _ content: String, _ edition: Int32, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) {
        let json = JSONB(Array(content.utf8))
        try connection.query(
            """
            INSERT INTO registry.category (
                app, number, category, position, custom_dismiss, content_extension, compact_actions, intent_identifiers,
                category_summary_format, hidden_previews_body_placeholder)
            SELECT
                \(app), \(edition), c.value ->> 'id', c.position, (c.value ->> 'custom_dismiss')::boolean,
                (c.value ->> 'content_extension')::boolean,
                ARRAY(SELECT jsonb_array_elements_text(c.value -> 'compact_actions')),
                ARRAY(SELECT jsonb_array_elements_text(c.value -> 'intent_identifiers')),
                c.value ->> 'category_summary_format', c.value ->> 'hidden_previews_body_placeholder'
            FROM jsonb_array_elements(\(json)) WITH ORDINALITY AS c (value, position)
            """)
        try connection.query(
            """
            INSERT INTO registry.button (
                app, number, category, position, action_id, title, titles, activation, destructive,
                authentication_required, text_input, answer)
            SELECT
                \(app), \(edition), c.value ->> 'id', a.position, a.value ->> 'id', a.value ->> 'title',
                a.value -> 'titles', a.value ->> 'activation', (a.value ->> 'destructive')::boolean,
                (a.value ->> 'authentication_required')::boolean, (a.value ->> 'text_input')::boolean,
                a.value ->> 'answer'
            FROM jsonb_array_elements(\(json)) AS c (value)
            CROSS JOIN LATERAL jsonb_array_elements(c.value -> 'actions') WITH ORDINALITY AS a (value, position)
            """)
    }

    /// Records which categories and buttons are registered from this edition on, or no longer.
    private static func noteChanges(
        _ edition: Int32, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> (registered: Int, retired: Int) {
        let changes = try connection.query(
            """
            WITH present AS (
                SELECT category, '' AS action_id FROM registry.registered_category WHERE app = \(app)
                UNION ALL
                SELECT category, action_id FROM registry.registered_button WHERE app = \(app)
            ), earlier AS (
                SELECT category, action_id FROM registry.latest_change WHERE app = \(app) AND is_registered
            ), noted AS (
                INSERT INTO registry.change (app, number, category, action_id, is_registered)
                SELECT \(app), \(edition), category, action_id, present.category IS NOT NULL
                FROM present FULL JOIN earlier USING (category, action_id)
                WHERE present.category IS NULL OR earlier.category IS NULL
                RETURNING action_id, is_registered
            )
            SELECT count(*) FILTER (WHERE is_registered), count(*) FILTER (WHERE NOT is_registered)
            FROM noted WHERE action_id <> ''
            """)[0]
        return (Int(try changes.get(0, as: Int64.self)), Int(try changes.get(1, as: Int64.self)))
    }

    /// Categories that another set has, too: the newer import counts.
    private static func overlaps(
        _ document: CategoryDocument, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [Remark] {
        let rows = try connection.query(
            """
            SELECT c.category, e.category_set FROM registry.newest_edition AS e
            JOIN registry.category AS c ON c.app = e.app AND c.number = e.number
            WHERE e.app = \(app) AND e.category_set <> \(document.set.rawValue)
                AND c.category = ANY (\(document.categories.map(\.id)))
            ORDER BY c.category, e.category_set LIMIT \(Int64(RegistryLimits.warnings))
            """)
        var remarks: [Remark] = []
        for row in rows {
            let (id, set): (String, String) = (try row.get(0), try row.get(1))
            let path = document.categories.first { ExactText($0.id) == ExactText(id) }?.path ?? ""
            remarks.append(
                Remark(
                    path: path,
                    detail: "\(String(shown: id)) is also registered by the set '\(set)': the newer import counts"))
        }
        return remarks
    }
}
