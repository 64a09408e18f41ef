package import Postgres
internal import ServiceRuntime
internal import Telemetry
package import Values

/// An app as analysts see it.
package struct ReportedApp: Hashable, Sendable {
    package let slug: String
    package let timeZone: String
    /// The date in that time zone at the moment that was asked about.
    package let today: CivilDate
    var daysAreMoving = false

    /// All apps, by name.
    package static func all(at now: Timestamp, on connection: inout Connection) throws(ReportError) -> [ReportedApp] {
        do throws(PostgresError) {
            let rows = try connection.query(
                """
                SELECT app, time_zone, (\(now) AT TIME ZONE time_zone)::date, days_moving FROM analytics.apps
                ORDER BY app COLLATE "C"
                """)
            return try rows.map { row throws(PostgresError) in
                ReportedApp(
                    slug: try row.get(0), timeZone: try row.get(1), today: try row.get(2),
                    daysAreMoving: try row.get(3))
            }
        } catch { throw .database(error) }
    }

    /// The app with this slug.
    package static func find(
        _ slug: String, at now: Timestamp, on connection: inout Connection
    ) throws(ReportError) -> ReportedApp {
        let apps = try all(at: now, on: &connection)
        guard let app = apps.first(where: { ExactName($0.slug) == ExactName(slug) }) else {
            throw .unknownApp(slug, known: apps.map(\.slug))
        }
        return app
    }
}

/// Why there is no report, in words for the person who asked.
package enum ReportError: DatabaseFailure, Sendable, CustomStringConvertible {
    case unknownApp(String, known: [String])
    /// The time zone of the app was changed, and not all deliveries have been moved to its days yet.
    case daysAreMoving(app: String, timeZone: String)
    case database(PostgresError)

    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }

    package var description: String {
        switch self {
        case .unknownApp(let app, let known) where known.isEmpty:
            "no app '\(String(printable: app))', and no other app either. Create one with bellwether app create"
        case .unknownApp(let app, let known):
            "no app '\(String(printable: app))'. The apps are \(known.joined(separator: ", "))"
        case .daysAreMoving(let app, let timeZone):
            "the days of app '\(app)' are being moved to time zone \(timeZone): "
                + "try again when that is done (bellwether app set \(app) --time-zone \(timeZone) completes it)"
        case .database(let error): error.description
        }
    }
}
