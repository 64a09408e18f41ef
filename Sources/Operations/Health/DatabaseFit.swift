internal import Accounts
internal import Migrations
package import Postgres
package import ServiceRuntime

/// How well the database must fit this program before a command begins.
package enum DatabaseFit: Sendable {
    /// The schema of this version and no other: another one would do harm, or fail halfway.
    case exact
    /// Anything that was ever migrated: for commands that only read.
    case anyVersion
    /// The command checks by itself, and handles the result in its own way.
    case seenLater
    /// The command does not use the schema.
    case any

    /// Throws if the database of a URL does not fit, with what to do about it.
    package func check(_ url: String, log: Log) throws {
        switch self {
        case .exact, .anyVersion: break
        case .seenLater, .any: return
        }
        var connection = try LogSession.open(url: url, role: nil, purpose: "command", log: log)
        let state: MigrationRunner.State
        do {
            try connection.execute(script: "SET lock_timeout = '3s'")
            state = try Migrations.state(of: &connection)
        } catch {
            switch (error.state, self) {
            // This login, for example a reporter's, may not read the migrations, but there are some.
            case (.insufficientPrivilege?, _), (.lockNotAvailable?, .anyVersion): return
            case (.lockNotAvailable?, _):
                throw Misfit("the database is being migrated: try again when that has finished")
            default: throw error
            }
        }
        if case .anyVersion = self {
            guard case .pending(let names) = state, names.first == Migrations.steps.first?.name else { return }
        }
        if let misfit = state.misfit { throw Misfit(misfit) }
    }

    /// Whether the command can work on an embedded database that this error kept from being migrated.
    package func bears(_ error: MigrationError) -> Bool {
        switch (self, error) {
        case (.anyVersion, .newer), (.anyVersion, .drifted), (.any, .newer), (.any, .drifted): true
        default: false
        }
    }
}

/// What does not fit, and what to do about it.
package struct Misfit: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
