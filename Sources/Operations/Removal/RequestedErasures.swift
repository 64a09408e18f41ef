internal import Accounts
internal import Clusters
internal import EventLog
package import Postgres
internal import Projections
package import ServiceRuntime
package import Values

/// Performs the erasures that an app's servers have asked for (`DELETE /v1/installs/ID`). Any number of processes may:
/// each takes a request under a lock on its row, which ends with the process, and an interrupted erasure is begun
/// again.
package struct RequestedErasures: Sendable {
    package enum Attempt: Sendable {
        /// None waits here, or others are at work on all of them.
        case nothing
        /// This login may not delete events.
        case notOwner
        case erased(UUID, app: String, receipt: String)
        case failed(UUID, app: String, fault: String)
    }

    private let url: String
    private let log: Log
    private let cancellation = Cancellation()

    package init(url: String, log: Log) { (self.url, self.log) = (url, log) }

    /// Interrupts the erasure that runs, for good.
    package func cancel() { cancellation.ask() }

    /// A session that may at least look for requests.
    package func open() throws(PostgresError) -> Connection {
        var connection = try LogSession.open(url: url, role: nil, purpose: "erasures", log: log)
        if try !Self.mayErase(&connection) {
            try connection.execute(script: "SET ROLE \(Statement.quoted(LogSession.Role.projector.rawValue))")
        }
        return connection
    }

    /// Performs the next one that was not tried since then.
    package func performNext(
        notTriedSince moment: Timestamp, on connection: inout Connection
    ) throws -> Attempt {
        guard try Self.mayErase(&connection) else { return .notOwner }
        let databases = try databases(&connection)
        // While the erasure runs on other connections, this one holds the request.
        return try connection.inTransaction { connection in
            try connection.execute(
                script: "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
            return try performTaken(notTriedSince: moment, databases, on: &connection)
        }
    }

    private func performTaken(
        notTriedSince moment: Timestamp, _ databases: [CellDatabase], on connection: inout Connection
    ) throws -> Attempt {
        guard let turn = try ErasureRequest.take(notTriedSince: moment, on: &connection) else { return .nothing }
        CrashPoint.pass("erasure taken")
        let receipt: String
        do { receipt = try erase(turn, databases) } catch {
            guard !cancellation.isAsked else { throw error }
            try ErasureRequest.fail(turn, fault: "\(error)", on: &connection)
            return .failed(turn.install, app: turn.slug, fault: "\(error)")
        }
        CrashPoint.pass("erasure performed")
        try ErasureRequest.finish(turn, receipt: receipt, on: &connection)
        return .erased(turn.install, app: turn.slug, receipt: receipt)
    }

    /// Returns the receipt: what was removed of the install so far, all attempts together.
    private func erase(_ turn: ErasureRequest.Turn, _ databases: [CellDatabase]) throws -> String {
        let receipt = try RemovalOfInstall(databases, log: log, cancellation: cancellation)
            .run(turn.install, ofApp: turn.slug)
        if let failure = receipt.failures.first { throw failure }
        return receipt.object(of: turn.install, app: turn.slug, counting: \.total).json
    }

    /// All that the cluster has; outside one, this one.
    private func databases(_ connection: inout Connection) throws -> [CellDatabase] {
        guard let cluster = try Cluster(of: &connection, url: url, log: log) else { return [CellDatabase(alone: url)] }
        cluster.followNewest()
        return cluster.databases
    }

    /// Whether this is the owner or has its rights, as superusers do. They may erase by the command, too.
    private static func mayErase(_ connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            "SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'log'")[0].get(0)
    }
}
