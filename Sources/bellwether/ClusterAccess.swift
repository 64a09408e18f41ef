internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// What a command did for all cells of a cluster.
struct Shared<Result> {
    let result: Result
    /// Whether all cells have it. If not, the person was told which.
    let isEverywhere: Bool

    /// The exit code of a command that did its own part.
    func exitCode(_ code: ExitCode = .done) -> ExitCode { isEverywhere ? code : .failed }
}

extension DatabaseAccess {
    /// Runs `body` with the access and a connection for the owner, then ends the access.
    static func withAccess<Result>(
        _ arguments: Arguments, _ body: (DatabaseAccess, inout Connection) throws -> Result
    ) throws -> Result {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "command", log: log, statementSeconds: 600)
        return try body(access, &connection)
    }

    /// Runs `body` with the cluster that the database belongs to.
    static func withCluster<Result>(_ arguments: Arguments, _ body: (Cluster) throws -> Result) throws -> Result {
        try withAccess(arguments) { access, connection in
            let log = Log.standardError(least: .warning)
            guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else {
                throw ClusterError.notInCluster
            }
            return try body(cluster)
        }
    }

    /// Changes what all cells of a cluster share: runs `body` in the first cell, and then brings these tables to the others.
    /// Outside a cluster it just runs `body`.
    static func sharing<Result>(
        _ tables: [SharedTable], _ arguments: Arguments, _ body: (inout Connection) throws -> Result
    ) throws -> Shared<Result> {
        try sharing(arguments, body) { cluster in cluster.shareWithAll(tables) }
    }

    /// The same where `spread` brings it to the others, and returns the cells that do not have it.
    static func sharing<Result>(
        _ arguments: Arguments, _ body: (inout Connection) throws -> Result,
        spread: (Cluster) throws -> [(cell: ClusterMap.Cell, error: any Error)]
    ) throws -> Shared<Result> {
        try withAccess(arguments) { access, connection in
            let log = Log.standardError(least: .warning)
            guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else {
                return Shared(result: try body(&connection), isEverywhere: true)
            }
            let result = try cluster.working(on: try cluster.first, body)
            CrashPoint.pass("shared in the first cell")
            return Shared(result: result, isEverywhere: report(try spread(cluster)))
        }
    }

    /// Tells which cells were not reached. Returns true if all were.
    static func report(_ failures: [(cell: ClusterMap.Cell, error: any Error)]) -> Bool {
        for (cell, error) in failures {
            StandardStream.error.write(
                String(printable: "The cell '\(cell.name)' does not have this yet: \(error)") + "\n")
        }
        if !failures.isEmpty {
            StandardStream.error.write("As soon as it can be reached again, run: bellwether cluster check\n")
        }
        return failures.isEmpty
    }
}
