import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// All funnels as an analyst sees them in one snapshot: a line for each row of each view, in order.
struct FunnelViews: Equatable, Sendable {
    let lines: [String]

    /// Of these apps alone, or of all. Those that are sums: all that retention must not change.
    init(of apps: [String]? = nil, on connection: inout Connection) throws {
        let query = Funnels.kinds.filter { $0.isSum }.map { kind in
            "SELECT '\(kind.view) ' || \(kind.view)::text FROM \(kind.source) WHERE $1 IS NULL OR app = ANY ($1)"
        }.joined(separator: " UNION ALL ")
        lines = try connection.query(Statement("\(query) ORDER BY 1", [.init(apps)])).map { try $0.get(0) }
    }

    /// What differs from these rows in others, a line for each.
    func differences(in others: FunnelViews) -> [String] {
        let (old, new) = (Set(lines), Set(others.lines))
        return old.subtracting(new).sorted().map { "gone: \($0)" } + new.subtracting(old).sorted().map { "new: \($0)" }
    }
}

/// Looks at a database again and again, each time in one snapshot, while something else goes on.
final class Onlooker: Sendable {
    private struct State {
        var looks = 0
        var complaints: [String] = []
        var isEnding = false
    }

    private let state = Lock(State())
    private let thread: Worker

    /// `look` says what it does not like. Returns after the first look.
    init(
        _ database: TestDatabase, _ look: @escaping @Sendable (inout Connection) throws -> [String]
    ) {
        let state = self.state
        thread = Worker(name: "onlooker") {
            do {
                var connection = try database.connect()
                while !state.withLock({ $0.isEnding }) {
                    connection.deadline = .after(seconds: 30)
                    let began = Deadline.now
                    let complaints = try connection.transaction(
                        .repeatableReadOnly, failingWith: (any Error).self, look)
                    let took = Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
                    state.withLockNotifying { state in
                        state.looks += 1
                        state.complaints += complaints
                    }
                    // It looks for a third of the time, and leaves the rest to what it looks at.
                    _ = state.wait(until: .after(seconds: 2 * took)) { $0.isEnding ? true : nil }
                }
            } catch { state.withLockNotifying { $0.complaints.append("\(error)") } }
        }
        _ = state.wait(until: .after(seconds: 60)) { $0.looks > 0 || !$0.complaints.isEmpty ? true : nil }
    }

    /// Ends it: it must have looked after the beginning, and liked all that it saw.
    func expectContent(sourceLocation: SourceLocation = #_sourceLocation) {
        let before = state.withLock { $0.looks }
        let hasLooked = state.wait(until: .after(seconds: 60)) {
            $0.looks > before || !$0.complaints.isEmpty ? true : nil
        }
        state.withLockNotifying { $0.isEnding = true }
        thread.join()
        let complaints = state.withLock { $0.complaints }
        #expect(hasLooked == true, sourceLocation: sourceLocation)
        #expect(
            complaints.isEmpty, "\(complaints.count): \(complaints.prefix(3).joined(separator: "; "))",
            sourceLocation: sourceLocation)
    }
}
