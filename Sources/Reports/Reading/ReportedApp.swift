internal import Postgres

/// An app as analysts see it.
struct ReportedApp {
    let slug: String
    let timeZone: String
    let daysAreMoving: Bool

    /// The app with this slug.
    static func find(_ slug: String, on connection: inout Connection) throws(ReportError) -> ReportedApp {
        do throws(PostgresError) {
            let rows = try connection.query(
                "SELECT app, time_zone, days_moving FROM analytics.apps WHERE app = \(slug)")
            if let row = rows.first {
                return ReportedApp(slug: try row.get(0), timeZone: try row.get(1), daysAreMoving: try row.get(2))
            }
        } catch { throw .database(error) }
        throw .unknownApp(slug, known: try slugs(on: &connection))
    }

    /// All there are, by name.
    static func slugs(on connection: inout Connection) throws(ReportError) -> [String] {
        do throws(PostgresError) {
            var slugs: [String] = []
            for row in try connection.query("SELECT app FROM analytics.apps ORDER BY app COLLATE \"C\"") {
                slugs.append(try row.get(0))
            }
            return slugs
        } catch { throw .database(error) }
    }
}
