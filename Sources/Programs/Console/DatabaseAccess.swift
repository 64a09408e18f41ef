package import Accounts
package import EmbeddedPostgres
internal import Glibc
package import Health
internal import Migrations
package import Postgres
package import ServiceRuntime

/// The database of a command: the one that a URL names, or the embedded one. The embedded one is created, started and
/// migrated first, and kept running while the command needs it.
package final class DatabaseAccess: Sendable {
    package static let embeddedDatabase = "bellwether"
    package static let owner = "bellwether_owner"

    /// A URL for the owner of everything.
    package let url: String
    package let server: EmbeddedServer?
    private let interruption: Interruption?

    /// `interruptible` releases the database when somebody presses Ctrl-C; a service handles that itself.
    package convenience init(
        _ choice: DatabaseChoice, log: Log, fit: DatabaseFit = .exact, interruptible: Bool = true, shards: Int16? = nil
    ) throws {
        if let url = choice.url {
            try fit.check(url, log: log)
            self.init(url: url)
            return
        }
        try self.init(embeddedIn: choice.directory, log: log, fit: fit, interruptible: interruptible, shards: shards)
    }

    private init(url: String) {
        self.url = url
        server = nil
        interruption = nil
    }

    /// Uses the embedded database in this directory. A new database gets this many shards. `whenInterrupted` is called
    /// before the database is released.
    package init(
        embeddedIn directory: String, log: Log, fit: DatabaseFit = .exact, interruptible: Bool = true,
        shards: Int16? = nil, whenInterrupted: @escaping @Sendable () -> Void = {}
    ) throws {
        let server = try EmbeddedServer.use(dataDirectory: directory, options: DatabaseAccess.serverOptions, log: log)
        self.server = server
        url = server.connectionURL(database: DatabaseAccess.embeddedDatabase, user: DatabaseAccess.owner)
        interruption =
            interruptible
            ? Interruption {
                whenInterrupted()
                server.release()
            } : nil
        do {
            try DatabaseAccess.prepareWhenUp(server, url: url, fit: fit, shards: shards, log: log)
        } catch {
            release()
            throw error
        }
    }

    /// Releases the database. The last user of an embedded server stops it.
    package func release() {
        server?.release()
    }

    /// Runs `body` with a connection for the owner, then ends the access.
    package static func withConnection<Result>(
        _ choice: DatabaseChoice, log: Log = .standardError(least: .warning), fit: DatabaseFit = .exact,
        statementSeconds: Int = 600, shards: Int16? = nil, _ body: (inout Connection) throws -> Result
    ) throws -> Result {
        let access = try DatabaseAccess(choice, log: log, fit: fit, shards: shards)
        defer { access.release() }
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "command", log: log, statementSeconds: statementSeconds)
        return try body(&connection)
    }

    /// The URL for a role: on the embedded database, the role's own login; elsewhere, the given login with SET ROLE.
    package func url(for role: LogSession.Role) -> String {
        if let server {
            return server.connectionURL(
                database: DatabaseAccess.embeddedDatabase,
                user: role == .analyst ? AnalystLogin.embedded : role.rawValue)
        }
        // SET ROLE does not apply the settings of the role.
        let settings =
            role == .analyst
            ? AnalystLogin.settings.map { ($0.key, $0.value) } : [("role", role.rawValue), ("timezone", "UTC")]
        // A password may contain any character, including this one.
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            // A single word is the name of a database.
            let pairs =
                url.contains("=") ? url : "dbname='\(url.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
            return "\(pairs) options='\(settings.map { "-c \($0.0)=\($0.1)" }.joined(separator: " "))'"
        }
        let options = settings.map { "-c%20\($0.0)%3D\($0.1)" }.joined(separator: "%20")
        return url + (url.contains("?") ? "&" : "?") + "options=" + options
    }

    /// What another process of this program needs to use the same database. A URL may hold a password, which belongs
    /// into no command line.
    package var variables: [String: String?] {
        server.map { ["BELLWETHER_DATABASE_URL": nil, "BELLWETHER_DATA": $0.dataDirectory] }
            ?? ["BELLWETHER_DATABASE_URL": url]
    }

    /// The URL for the pages of `look`, which read as analysts do.
    package var pagesURL: String {
        server?.connectionURL(database: DatabaseAccess.embeddedDatabase, user: AnalystLogin.pages)
            ?? url(for: .analyst)
    }

    /// Lets one more analyst into the embedded database. Elsewhere each person has a login and a limit of their own.
    package func makeRoomForAnalyst(log: Log) throws(PostgresError) {
        guard let server else { return }
        var administrator = try Connection(
            url: server.connectionURL(database: DatabaseAccess.embeddedDatabase), log: log)
        administrator.deadline = .after(seconds: 30)
        try AnalystLogin.makeRoom(for: AnalystLogin.embedded, on: &administrator)
    }

    package static let serverOptions = ServerOptions(
        superuser: "bellwether",
        roles: [
            owner, LogSession.Role.ingest.rawValue, LogSession.Role.projector.rawValue,
            AnalystLogin.embedded, AnalystLogin.pages, LogSession.Role.reporter.rawValue,
        ])

    /// Prepares the database, and waits for it if its server, which ran a moment ago, recovers from a crash or was
    /// killed.
    private static func prepareWhenUp(
        _ server: EmbeddedServer, url: String, fit: DatabaseFit, shards: Int16?, log: Log
    ) throws {
        let deadline = Deadline.after(seconds: 30)
        var backoff = Backoff(first: 0.05, most: 1)
        while true {
            do { return try prepare(server, url: url, fit: fit, shards: shards, log: log) } catch {
                guard let lost = error as? PostgresError, lost.isUnavailable, !deadline.hasPassed else { throw error }
                _ = Lock(()).wait(until: .after(seconds: backoff.next())) { _ in Bool?.none }
                try server.ensureRunning()
            }
        }
    }

    /// Creates the role and database once, then runs the migrations. Another process may do the same at the same time.
    private static func prepare(
        _ server: EmbeddedServer, url: String, fit: DatabaseFit, shards: Int16?, log: Log
    ) throws {
        var admin = try Connection(url: server.connectionURL(database: "postgres"), log: log)
        let alreadyThere: Set<SQLState> = [.duplicateObject, .uniqueViolation, SQLState("42P04")]
        for (exists, script) in [
            (
                Statement("SELECT FROM pg_roles WHERE rolname = \(owner)"),
                "CREATE ROLE \(Statement.quoted(owner)) LOGIN CREATEROLE"
            ),
            (
                Statement("SELECT FROM pg_database WHERE datname = \(embeddedDatabase)"),
                "CREATE DATABASE \(Statement.quoted(embeddedDatabase)) OWNER \(Statement.quoted(owner))"
            ),
        ] where try admin.query(exists).isEmpty {
            do { try admin.execute(script: script) } catch {
                guard let state = error.state, alreadyThere.contains(state) else { throw error }
            }
        }
        var connection = try LogSession.open(url: url, role: nil, purpose: "migrate", log: log, statementSeconds: 0)
        do { _ = try Migrations.run(shards: shards, on: &connection, log: log) } catch {
            guard fit.bears(error) else { throw error }
        }
        try harden(server, log: log)
    }

    /// Sets what only a superuser can set, and only on our own server. Another process may do the same at the same
    /// time.
    private static func harden(_ server: EmbeddedServer, log: Log) throws {
        var admin = try Connection(url: server.connectionURL(database: embeddedDatabase), log: log)
        admin.deadline = .after(seconds: 30)
        var attempts = 0
        while true {
            do {
                for login in [AnalystLogin.embedded, AnalystLogin.pages]
                where try !AnalystLogin.isRight(login, on: &admin) {
                    try AnalystLogin.make(login, on: &admin)
                }
                return try Hardening.close(on: &admin)
            } catch {
                // "tuple concurrently updated" has no SQLSTATE of its own.
                attempts += 1
                admin.rollBack()
                guard attempts < 5, admin.isUsable, error.state != nil else { throw error }
            }
        }
    }
}
