internal import Accounts
internal import Migrations
package import Postgres
package import ServiceRuntime

/// How well the database has to fit this program, for a command to begin.
package enum DatabaseFit: Sendable {
    /// What this version made, and no other: the rules of another would do harm, or fail somewhere in the middle.
    case exact
    /// Anything that was migrated once: for whoever only reads what is there.
    case anyVersion
    /// The command looks itself, and goes on or ends in its own way.
    case seenLater
    /// It has nothing to do with what is in there.
    case any

    /// Throws what does not fit in the database of a URL, and what to do about it.
    package func check(_ url: String, log: Log) throws {
        switch self {
        case .exact, .anyVersion: break
        case .seenLater, .any: return
        }
        var connection = try LogSession.open(url: url, role: nil, purpose: "command", log: log)
        let state: MigrationRunner.State
        do {
            try connection.execute(script: "SET lock_timeout = '3s'")
            state = try Migrations.runner.state(of: &connection)
        } catch {
            switch (error.state, self) {
            // A login that may not read of migrations, as a reporter's: there is something that it may not read.
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

    /// Whether the command can do its work on an embedded database that could not be migrated for this reason.
    package func bears(_ error: MigrationError) -> Bool {
        switch (self, error) {
        case (.anyVersion, .newer), (.anyVersion, .drifted), (.anyVersion, .unreleased), (.any, .newer),
            (.any, .drifted),
            (.any, .unreleased):
            true
        default: false
        }
    }
}

/// What does not fit, and what to do about it.
package struct Misfit: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
