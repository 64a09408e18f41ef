package import Postgres
internal import Telemetry
package import Values

/// When the last daily report of an app was kept. Shows whether the nightly run still works.
package struct LastReport: Sendable {
    package let app: String
    package let appMadeAt: Timestamp
    /// Nil if no report was ever kept.
    package let keptAt: Timestamp?

    /// One for each app, the oldest first.
    package static func each(on connection: inout Connection) throws(PostgresError) -> [LastReport] {
        var all: [LastReport] = []
        for row in try connection.query("\(sql: found) ORDER BY coalesce(last.made_at, app.created_at), app.slug") {
            all.append(
                LastReport(
                    app: try row.get("slug"), appMadeAt: try row.get("created_at"), keptAt: try row.optional("made_at"))
            )
        }
        return all
    }

    /// The oldest of all apps' last reports; nil if none was ever kept.
    static func oldest(on connection: inout Connection) throws(PostgresError) -> Timestamp? {
        try connection.query("SELECT min(made_at) FROM (\(sql: found)) AS each").valueIfAny()
    }

    private static let found: StaticString = """
        SELECT app.slug, app.created_at, last.made_at
        FROM log.app AS app
        LEFT JOIN LATERAL (
            SELECT kept.made_at FROM report.kept AS kept WHERE kept.app = app.slug AND kept.is_final
            ORDER BY kept.day DESC, kept.made_at DESC LIMIT 1
        ) AS last ON true
        """
}
