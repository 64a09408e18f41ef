internal import Accounts
internal import Postgres
internal import Values

extension RegistryCheck {
    /// Taps whose description of a button contradicts all editions of its category. An old version of an app describes
    /// it as an earlier edition did, and that is no contradiction.
    static func contradictions(
        _ app: App, since: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> [Finding] {
        let rows = try connection.query(
            """
            WITH tap AS (
                SELECT
                    coalesce(category, '') AS category, action_id, action_index, action_count, activation, destructive,
                    authentication_required, text_input, count(*) AS taps,
                    min((occurred_at AT TIME ZONE \(app.timeZone))::date) AS since
                FROM analytics.action_taps
                WHERE app = \(app.slug) AND type = 'action.tapped' AND device_at >= \(since)
                GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
            ), edition AS (
                SELECT
                    b.category, b.action_id, b.position, b.activation, b.destructive, b.authentication_required,
                    b.text_input, count(*) OVER (PARTITION BY b.number, b.category) AS buttons
                FROM registry.button AS b WHERE b.app = \(app.id)
            ), told AS (
                SELECT
                    category, action_id, array_agg(DISTINCT position) AS positions,
                    array_agg(DISTINCT buttons) AS counts, array_agg(DISTINCT activation) AS activations,
                    array_agg(DISTINCT destructive) AS destructive,
                    array_agg(DISTINCT authentication_required) AS authentication_required,
                    array_agg(DISTINCT text_input) AS text_input
                FROM edition GROUP BY category, action_id
            ), conflict AS (
                SELECT
                    t.category, t.action_id, c.kind, c.told, c.registered, t.taps, t.since
                FROM tap AS t
                JOIN told AS r ON r.category = t.category AND r.action_id = t.action_id
                CROSS JOIN LATERAL (VALUES
                    (
                        -- As numeric: a client may say the greatest bigint.
                        'action_index', (t.action_index::numeric + 1)::text,
                        NOT t.action_index::numeric + 1 = ANY (r.positions), r.positions::text[]
                    ),
                    ('action_count', t.action_count::text, NOT t.action_count = ANY (r.counts), r.counts::text[]),
                    -- NULL among what is registered says that nothing was said of it: anything goes.
                    (
                        'activation', t.activation, NOT t.activation = ANY (r.activations), r.activations
                    ),
                    (
                        'destructive', t.destructive::text, NOT t.destructive = ANY (r.destructive),
                        r.destructive::text[]
                    ),
                    (
                        'authentication_required', t.authentication_required::text,
                        NOT t.authentication_required = ANY (r.authentication_required),
                        r.authentication_required::text[]
                    ),
                    ('text_input', t.text_input::text, NOT t.text_input = ANY (r.text_input), r.text_input::text[])
                ) AS c (kind, told, differs, registered)
                WHERE c.differs
            )
            SELECT
                category, CASE WHEN kind = 'action_count' THEN NULL ELSE action_id END AS action, kind, told,
                array_to_string(min(registered), ' or '), sum(taps)::bigint, min(since)
            FROM conflict
            GROUP BY category, action, kind, told
            ORDER BY category, action, kind, told
            """)
        var findings: [Finding] = []
        for row in rows {
            guard let kind = Finding.Kind(rawValue: try row.get(2)) else { continue }
            let (told, registered): (String, String) = (try row.get(3), try row.get(4))
            findings.append(
                Finding(
                    kind, try row.get(0), action: try row.optional(1), count: try row.get(5), since: try row.get(6),
                    words(kind, told: told, registered: registered)))
        }
        return findings
    }

    private static func words(_ kind: Finding.Kind, told: String, registered: String) -> String {
        func flag(_ what: String) -> String {
            told == "true"
                ? "taps say that it \(what), the registration says that it does not"
                : "the registration says that it \(what), taps say that it does not"
        }
        return switch kind {
        case .actionIndex: "taps say that it is button \(told), the registration says \(registered)"
        case .actionCount: "taps say that there are \(told) buttons, the registration has \(registered)"
        case .activation: "taps say \(told), the registration says \(registered)"
        case .destructive: flag("shows as destructive")
        case .authenticationRequired: flag("needs the phone unlocked")
        default: flag("takes text")
        }
    }
}
