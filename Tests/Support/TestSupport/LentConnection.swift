import Postgres
import ServiceRuntime

/// A connection that one after another has. Most tests have dozens, and to connect costs more than most answers.
final class LentConnection: @unchecked Sendable {
    // SAFETY: it is taken out of the list by whoever uses it.
    private var connection: Connection

    private init(_ connection: consuming Connection) { self.connection = connection }

    private static let free = Lock<[String: [LentConnection]]>([:])

    /// Lends one of this name, or a new one. After a failure nobody gets it again.
    static func lend<Answer>(
        _ name: String, within seconds: Double, _ connect: @autoclosure () throws -> Connection,
        to work: (inout Connection) throws -> Answer
    ) throws -> Answer {
        var found = free.withLock { free in free[name]?.popLast() }
        // A test may have ended all connections.
        if let last = found, (try? last.connection.query("SELECT")) == nil { found = nil }
        let lent = try found ?? LentConnection(try connect())
        lent.connection.deadline = .after(seconds: seconds)
        let answer = try work(&lent.connection)
        free.withLock { free in free[name, default: []].append(lent) }
        return answer
    }

    /// Ends those whose names begin so.
    static func endAll(of beginning: String) {
        free.withLock { free in free = free.filter { !$0.key.hasPrefix(beginning) } }
    }
}
