package import Postgres
package import Telemetry

/// An app as analysts see it.
package struct ReportedApp: Hashable, Sendable {
    package let slug: String
    package let timeZone: String
    /// The day that it is there at the moment that was asked about.
    package let today: CivilDate
    let daysAreMoving: Bool

    package init(slug: String, timeZone: String, today: CivilDate, daysAreMoving: Bool = false) {
        (self.slug, self.timeZone, self.today, self.daysAreMoving) = (slug, timeZone, today, daysAreMoving)
    }

    /// All there are, by name.
    package static func all(at now: Timestamp, on connection: inout Connection) throws(ReportError) -> [ReportedApp] {
        do throws(PostgresError) {
            var apps: [ReportedApp] = []
            let rows = try connection.query(
                """
                SELECT app, time_zone, (\(now) AT TIME ZONE time_zone)::date, days_moving FROM analytics.apps
                ORDER BY app COLLATE "C"
                """)
            for row in rows {
                apps.append(
                    ReportedApp(
                        slug: try row.get(0), timeZone: try row.get(1), today: try row.get(2),
                        daysAreMoving: try row.get(3)))
            }
            return apps
        } catch { throw .database(error) }
    }

    /// The app with this slug.
    package static func find(
        _ slug: String, at now: Timestamp, on connection: inout Connection
    ) throws(ReportError) -> ReportedApp {
        let apps = try all(at: now, on: &connection)
        // Byte by byte, as the database compares.
        guard let app = apps.first(where: { $0.slug.utf8.elementsEqual(slug.utf8) }) else {
            throw .unknownApp(slug, known: apps.map(\.slug))
        }
        return app
    }
}
