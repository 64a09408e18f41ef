package import Postgres
internal import ServiceRuntime
package import Values

/// A tenant.
package struct App: Sendable, Equatable {
    package let id: Int32
    package let slug: String
    package let timeZone: String
    package let rateLimit: RateLimit?
    package let goals: GoalSource
    package let createdAt: Timestamp
}

/// With which keys an app's goals are taken.
package enum GoalSource: String, CaseIterable, Sendable {
    case any
    /// With a server key alone: a write key is in every copy of the app, and anybody may read it there.
    case server
}

/// How many events a second an app may send, and how many at once after a pause.
package struct RateLimit: Sendable, Equatable {
    package let eventsPerSecond: Double
    package let burst: Double

    /// The allowed range of both: outside it, waits are longer than any client's patience, or there is no real limit.
    package static let bounds = 1e-6...1e9

    package init(eventsPerSecond: Double, burst: Double) {
        self.eventsPerSecond = eventsPerSecond
        self.burst = burst
    }
}

/// Why something cannot be done with an app or a key, for the person who asked.
package enum AppError: Error, Sendable, CustomStringConvertible {
    case invalidSlug(String)
    case unknownTimeZone(String)
    case exists(String)
    case unknown(String)
    case invalidKeyName(String)
    case keyExists(app: String, name: String)
    case unknownKey(app: String, name: String)
    case alreadyRevoked(app: String, name: String)
    case database(PostgresError)

    package var description: String {
        switch self {
        case .invalidSlug(let slug):
            "'\(String(printable: slug))' cannot name an app: "
                + "use 1 to 63 of a-z, 0-9, - and _, the first a letter or digit"
        case .unknownTimeZone(let zone):
            "'\(String(printable: zone))' is not a time zone that PostgreSQL knows: "
                + "use an IANA name such as Europe/Berlin or Asia/Bangkok"
        case .exists(let slug): "app '\(slug)' already exists"
        case .unknown(let slug): "no app '\(String(printable: slug))': see bellwether app list"
        case .invalidKeyName(let name):
            "'\(String(printable: name))' cannot name a key: use 1 to 64 printable characters"
        case .keyExists(let app, let name): "app '\(app)' already has a key '\(name)': choose another name"
        case .unknownKey(let app, let name):
            "app '\(String(printable: app))' has no key '\(String(printable: name))': see bellwether app list"
        case .alreadyRevoked(let app, let name): "key '\(name)' of app '\(app)' has already been revoked"
        case .database(let error): error.description
        }
    }
}

/// The apps, as the owner sees them.
package enum Apps {
    package static func create(
        slug: String, timeZone: String, on connection: inout Connection
    ) throws(AppError) -> App {
        guard isSlug(slug) else { throw .invalidSlug(slug) }
        do {
            try check(timeZone: timeZone, on: &connection)
            let rows = try connection.query(
                """
                INSERT INTO log.app (slug, time_zone) VALUES (\(slug), \(timeZone)) ON CONFLICT (slug) DO NOTHING
                    RETURNING id
                """
            )
            guard !rows.isEmpty else { throw AppError.exists(slug) }
            // Autovacuum never looks at so small a table, and PostgreSQL would take it for hundreds of apps: then it
            // expects few rows of each, and plans questions over a day of deliveries as if there were few.
            try connection.query("ANALYZE log.app")
        } catch { throw AppError(error) }
        return try named(slug, on: &connection)
    }

    /// The tables that a cluster's cells have in common, those that others refer to first.
    package static let sharedTables = [
        SharedTable("log.app", key: ["id"], changing: ["time_zone", "rate_limit", "rate_burst", "goals"]),
        SharedTable("log.api_key", key: ["id"], changing: ["revoked_at"]),
        SharedTable("log.reader_key", key: ["name"], changing: ["revoked_at"]),
        SharedTable("log.analyst", key: ["login"], changing: ["apps"]),
    ]

    /// All apps by slug.
    package static func list(on connection: inout Connection) throws(PostgresError) -> [App] {
        var apps: [App] = []
        for row in try connection.query("\(sql: selection) ORDER BY slug") { apps.append(try App(row)) }
        return apps
    }

    /// Throws for the first of these slugs that is no app.
    static func require(_ slugs: [String], on connection: inout Connection) throws(AppError) {
        for slug in slugs { _ = try named(slug, on: &connection) }
    }

    /// The app with this slug.
    package static func named(_ slug: String, on connection: inout Connection) throws(AppError) -> App {
        do {
            guard let row = try connection.query("\(sql: selection) WHERE slug = \(slug)").first else {
                throw AppError.unknown(slug)
            }
            return try App(row)
        } catch { throw AppError(error) }
    }

    /// Changes the rate limit; nil removes it.
    package static func set(
        rateLimit: RateLimit?, of slug: String, on connection: inout Connection
    ) throws(AppError) {
        do {
            let changed = try connection.query(
                """
                UPDATE log.app SET rate_limit = \(rateLimit?.eventsPerSecond), rate_burst = \(rateLimit?.burst)
                WHERE slug = \(slug)
                """
            ).affected
            guard changed == 1 else { throw AppError.unknown(slug) }
        } catch { throw AppError(error) }
    }

    /// Changes with which keys goals are taken.
    package static func set(goals: GoalSource, of slug: String, on connection: inout Connection) throws(AppError) {
        do {
            let changed = try connection.query("UPDATE log.app SET goals = \(goals.rawValue) WHERE slug = \(slug)")
                .affected
            guard changed == 1 else { throw AppError.unknown(slug) }
        } catch { throw AppError(error) }
    }

    /// Changes the time zone in which the app's days are counted.
    package static func set(
        timeZone: String, of slug: String, on connection: inout Connection
    ) throws(AppError) {
        do {
            try check(timeZone: timeZone, on: &connection)
            let changed = try connection.query("UPDATE log.app SET time_zone = \(timeZone) WHERE slug = \(slug)")
                .affected
            guard changed == 1 else { throw AppError.unknown(slug) }
        } catch { throw AppError(error) }
    }

    private static let selection: StaticString =
        "SELECT id, slug, time_zone, rate_limit, rate_burst, goals, created_at FROM log.app"

    private static func isSlug(_ slug: String) -> Bool {
        slug.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,62}/) != nil
    }

    /// PostgreSQL counts the days, so it must know the zone, by its full name. Its list contains all files of the
    /// directory; some are no zones, or a different one on each machine.
    private static func check(timeZone: String, on connection: inout Connection) throws {
        let known: Bool = try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM pg_timezone_names
                WHERE name = \(timeZone) AND name !~ '^((posix|right)/|(localtime|posixrules|Factory)$)')
            """)[0].get(0)
        guard known else { throw AppError.unknownTimeZone(timeZone) }
    }
}

extension App {
    fileprivate init(_ row: Rows.Row) throws(PostgresError) {
        id = try row.get(0)
        slug = try row.get(1)
        timeZone = try row.get(2)
        let rate: Double? = try row.optional(3)
        let burst: Double? = try row.optional(4)
        rateLimit = rate.map { RateLimit(eventsPerSecond: $0, burst: burst ?? $0) }
        goals = GoalSource(rawValue: try row.get(5)) ?? .any
        createdAt = try row.get(6)
    }
}

extension AppError: DatabaseFailureCase {
    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }
}
