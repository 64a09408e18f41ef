package import Postgres
internal import ServiceRuntime

/// Why there is no report, in words for the person who asked.
package enum ReportError: Error, Sendable, CustomStringConvertible {
    case unknownApp(String, known: [String])
    /// The time zone of the app was changed, and not all deliveries stand on its days yet.
    case daysAreMoving(app: String, timeZone: String)
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unknownApp(let app, let known) where known.isEmpty:
            "there is no app '\(String(printable: app))', nor any other: bellwether app create makes one"
        case .unknownApp(let app, let known):
            "there is no app '\(String(printable: app))'; there is \(known.joined(separator: ", "))"
        case .daysAreMoving(let app, let timeZone):
            "the days of app '\(app)' are being moved to time zone \(timeZone): try again when that is done (bellwether app set \(app) --time-zone \(timeZone) sees it through)"
        case .database(let error): error.description
        }
    }
}
