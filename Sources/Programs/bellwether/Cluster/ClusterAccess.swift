internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Health
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
        _ choice: DatabaseChoice, _ body: (DatabaseAccess, inout Connection) throws -> Result
    ) throws -> Result {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(choice, log: log)
        defer { access.release() }
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "command", log: log, statementSeconds: 600)
        return try body(access, &connection)
    }

    /// Runs `body` with the cluster that the database belongs to.
    static func withCluster<Result>(_ choice: DatabaseChoice, _ body: (Cluster) throws -> Result) throws -> Result {
        try withAccess(choice) { access, connection in
            let log = Log.standardError(least: .warning)
            guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else {
                throw ClusterError.notInCluster
            }
            return try body(cluster)
        }
    }

    /// Changes what all cells of a cluster share: runs `body` in the first cell, and then brings these tables to the
    /// others. Outside a cluster it just runs `body`.
    static func sharing<Result>(
        _ tables: [SharedTable], _ choice: DatabaseChoice, _ body: (inout Connection) throws -> Result
    ) throws -> Shared<Result> {
        try sharing(choice, unlessLost: tables, body) { cluster in cluster.shareWithAll(tables) }
    }

    /// Runs `body` in the first cell, unless that lacks rows of some tables which others have; then `spread` brings the
    /// change to the others, and returns the cells that it did not reach.
    static func sharing<Result>(
        _ choice: DatabaseChoice, unlessLost tables: [SharedTable] = [], _ body: (inout Connection) throws -> Result,
        spread: (Cluster) throws -> [(cell: ClusterMap.Cell, error: any Error)]
    ) throws -> Shared<Result> {
        try withAccess(choice) { access, connection in
            let log = Log.standardError(least: .warning)
            guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else {
                return Shared(result: try body(&connection), isEverywhere: true)
            }
            try cluster.requireFirstIsWhole(tables)
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

extension DatabaseAccess {
    /// The databases that a command works on: this one or, if it is a hub, all cells of its cluster.
    func workplaces(log: Log) throws -> [CellDatabase] {
        guard let cluster = try cluster(log: log), cluster.map.isOfHub else { return [CellDatabase(alone: url)] }
        cluster.followNewest()
        return cluster.workplaces
    }

    /// All databases of the cluster that this one belongs to, hubs among them; outside a cluster, this one.
    func wholeCluster(log: Log) throws -> [CellDatabase] {
        guard let cluster = try cluster(log: log) else { return [CellDatabase(alone: url)] }
        cluster.followNewest()
        return cluster.databases
    }

    /// The cluster that this database belongs to.
    func cluster(log: Log) throws -> Cluster? {
        var connection = try LogSession.open(url: url, role: nil, purpose: "command", log: log)
        return try Cluster(of: &connection, url: url, log: log)
    }
}

/// What a command says of one database when it is done there.
struct Told {
    var code = ExitCode.done
    /// For standard output.
    var output = ""
    /// For standard error.
    var messages = ""

    func tell() {
        StandardStream.output.write(output)
        StandardStream.error.write(messages)
    }
}

extension CellDatabase {
    /// An object as a line of JSON, with the name of the cell.
    func line(_ object: JSONObject) -> String {
        (name.map { object.preceded(by: "cell", $0) } ?? object).json + "\n"
    }
}

extension [CellDatabase] {
    /// Works in these databases side by side, and tells the results in their order. A cell that fails is named, and
    /// keeps no other from its work; the exit code says that it failed.
    func work(
        log: Log, _ body: @escaping @Sendable (CellDatabase) throws -> Told
    ) throws -> ExitCode {
        // A database that stands for itself was checked when it was given.
        if count == 1, let only = first, only.cell == nil {
            let told = try body(only)
            told.tell()
            return told.code
        }
        var code = ExitCode.done
        sideBySide { database in
            try DatabaseFit.exact.check(database.url, log: log)
            return try body(database)
        } told: { database, result in
            do {
                let told = try result.get()
                told.tell()
                if told.code != .done { code = told.code }
            } catch {
                code = .failed
                StandardStream.error.write(String(printable: "bellwether: \(database.error(error))") + "\n")
            }
        }
        return code
    }
}
