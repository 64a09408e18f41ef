internal import Console
internal import Postgres
internal import ServiceRuntime

/// One check of the doctor. To add one, write it in its own file and list it.
struct Examination: Sendable {
    let name: String
    /// Whether it reads our tables, which needs a database at this program's version.
    var readsOurs = true
    /// Whether it is about taking and counting events, which a hub leaves to its cells.
    var isOfCells = false
    /// Returns nil if there is nothing to check.
    let look: @Sendable (DatabaseAccess, inout Connection) throws -> Finding?

    /// In the order of output: checks that others depend on come first.
    static let all = [
        server, migrations, roles, durability, checksums, connections, clock, disk, archive, backup, standby, cluster,
        cells, partitions, projections, steps, commits, proof, unfinished, reports, deliveries, pages, security,
    ]
}

/// The result of one check.
struct Finding: Sendable {
    enum Status: String, Sendable, CaseIterable {
        case ok = "OK"
        /// It works, but may not for long.
        case warn = "WARN"
        case fail = "FAIL"
    }

    let status: Status
    let what: String
    /// What to do about it.
    var remedy: String?
    /// Where the runbook says more.
    var runbook: Runbook?

    static func ok(_ what: String) -> Finding { Finding(status: .ok, what: what) }
    static func warn(_ what: String, do remedy: String, see runbook: Runbook) -> Finding {
        Finding(status: .warn, what: what, remedy: remedy, runbook: runbook)
    }
    static func fail(_ what: String, do remedy: String, see runbook: Runbook) -> Finding {
        Finding(status: .fail, what: what, remedy: remedy, runbook: runbook)
    }
}

extension Examination {
    /// Runs the check, and reports why it could not run.
    func examine(_ access: DatabaseAccess, _ connection: inout Connection) throws -> Finding? {
        do { return try look(access, &connection) } catch let error as PostgresError {
            connection.rollBack()
            guard connection.isUsable, !error.isUnavailable else { throw error }
            guard error.state != .insufficientPrivilege else {
                return .warn(
                    "this login may not look: \(error)", do: "run bellwether doctor as the owner of the database",
                    see: .rightMissing)
            }
            return .fail("could not be looked at: \(error)", do: "see the log of PostgreSQL", see: .notLookedAt)
        }
    }
}
