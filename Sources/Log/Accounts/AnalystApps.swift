package import Postgres
internal import ServiceRuntime

/// Which apps an analyst's login reads in psql. The database keeps the rule (`log.apps_shown`): every view that
/// analysts read shows those apps alone.
package struct AnalystApps: Sendable, Equatable {
    package let login: String
    /// nil for all.
    package let apps: [String]?
    /// Whether there is such a login, and it reads what analysts read.
    package let canRead: Bool

    static let most = 1000

    /// Lets a login read these apps beside those it is bound to already, and no others from now on; nil lets it read
    /// all. The rule may be there before the login.
    package static func add(
        _ apps: [String]?, to login: String, on connection: inout Connection
    ) throws(AnalystAppsError) -> AnalystApps {
        guard (1...63).contains(login.utf8.count), !login.contains("\0") else { throw .invalidLogin(login) }
        do {
            try Apps.require(apps ?? [], on: &connection)
            if apps != nil { try requireOther(login, on: &connection) }
            guard let apps else {
                return try store(nil, of: login, on: &connection)
            }
            let known: [String]? = try connection.query("SELECT apps FROM log.analyst WHERE login = \(login)").first?
                .optional(0)
            return try store(Set(known ?? []).union(apps).sorted(), of: login, on: &connection)
        } catch { throw AnalystAppsError(error) }
    }

    /// Takes these apps from a login, or all; then it reads none. A login that reads all apps is to be bound to some
    /// first.
    package static func remove(
        _ apps: [String], from login: String, on connection: inout Connection
    ) throws(AnalystAppsError) -> AnalystApps {
        do {
            let row = try connection.query("SELECT apps FROM log.analyst WHERE login = \(login)").first
            guard let known: [String] = try row?.optional(0) else {
                guard apps.isEmpty else { throw AnalystAppsError.isUnbound(login) }
                try requireOther(login, on: &connection)
                return try store([], of: login, on: &connection)
            }
            if let other = apps.first(where: { !known.contains($0) }) {
                throw AnalystAppsError.notBound(login, to: other)
            }
            return try store(apps.isEmpty ? [] : known.filter { !apps.contains($0) }, of: login, on: &connection)
        } catch { throw AnalystAppsError(error) }
    }

    /// The owner of the database makes reports and answers what is held about an install, so it reads all apps.
    private static func requireOther(_ login: String, on connection: inout Connection) throws {
        let isOwner: Bool = try connection.query(
            """
            SELECT \(login) IN (current_user, session_user) OR EXISTS (
                SELECT FROM pg_database WHERE datname = current_database() AND pg_get_userbyid(datdba) = \(login))
            """
        ).value()
        guard !isOwner else { throw AnalystAppsError.isOwner(login) }
    }

    private static func store(
        _ apps: [String]?, of login: String, on connection: inout Connection
    ) throws -> AnalystApps {
        guard apps?.count ?? 0 <= most else { throw AnalystAppsError.tooMany }
        try connection.query(
            """
            INSERT INTO log.analyst (login, apps) VALUES (\(login), \(apps))
            ON CONFLICT (login) DO UPDATE SET apps = excluded.apps
            """)
        guard let stored = try list(login, on: &connection).first else { throw AnalystAppsError.invalidLogin(login) }
        return stored
    }

    /// All logins that read as analysts, and those that are bound to apps; or the one with this name.
    package static func list(
        _ login: String? = nil, on connection: inout Connection
    ) throws(PostgresError) -> [AnalystApps] {
        var all: [AnalystApps] = []
        for row in try connection.query(
            """
            \(sql: Hardening.people)
            SELECT coalesce(a.login, p.name), a.apps, p.name IS NOT NULL
            FROM log.analyst AS a FULL JOIN person AS p ON p.name = a.login
            WHERE \(login) IS NULL OR coalesce(a.login, p.name) = \(login)
            ORDER BY 1
            """)
        { all.append(AnalystApps(login: try row.get(0), apps: try row.optional(1), canRead: try row.get(2))) }
        return all
    }

    /// Ends the sessions that a login has now: what they have prepared was planned before it was bound. Returns whether
    /// all could be ended, since only a superuser or a member of the login may.
    package static func endSessions(of login: String, on connection: inout Connection) throws(PostgresError) -> Bool {
        do {
            try connection.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE usename = \(login) AND datname = current_database() AND pid <> pg_backend_pid()
                """)
            return true
        } catch {
            guard error.state == .insufficientPrivilege else { throw error }
            return false
        }
    }
}

/// Why a login cannot be bound to apps, for the person who asked.
package enum AnalystAppsError: DatabaseFailure, Sendable, CustomStringConvertible {
    case invalidLogin(String)
    case unknownApp(AppError)
    case isUnbound(String)
    case isOwner(String)
    case notBound(String, to: String)
    case tooMany
    case database(PostgresError)

    fileprivate init(_ error: any Error) {
        switch error {
        case let error as AnalystAppsError: self = error
        case let error as AppError: self = error.ofDatabase.map { .database($0) } ?? .unknownApp(error)
        case let error as PostgresError: self = .database(error)
        default: self = .database(.decoding("\(error)"))
        }
    }

    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }

    package var description: String {
        switch self {
        case .invalidLogin(let login): "'\(String(printable: login))' cannot name a login of PostgreSQL"
        case .unknownApp(let error): error.description
        case .isUnbound(let login):
            "'\(String(printable: login))' reads all apps: bind it to those that it should read (bellwether app "
                + "analyst add)"
        case .isOwner(let login):
            "'\(String(printable: login))' owns the database, and makes the reports of all apps: bind the login of an "
                + "analyst"
        case .notBound(let login, let app):
            "'\(String(printable: login))' does not read '\(String(printable: app))': see bellwether app analyst list"
        case .tooMany: "a login is bound to \(AnalystApps.most) apps at most"
        case .database(let error): error.description
        }
    }
}
