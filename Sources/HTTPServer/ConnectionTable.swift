internal import ServiceRuntime

/// The open connections, by their descriptor, and how many each address has.
final class ConnectionTable: Sendable {
    private struct State {
        var byDescriptor: [Int32: Connection] = [:]
        var byPeer: [String: Int] = [:]
    }

    private let state = Lock(State())

    var count: Int { state.withLock { $0.byDescriptor.count } }

    var all: [Connection] { state.withLock { Array($0.byDescriptor.values) } }

    subscript(descriptor: Int32) -> Connection? { state.withLock { $0.byDescriptor[descriptor] } }

    /// False, and nothing done, when there are too many already.
    func insert(_ connection: Connection, limit: Int, limitPerPeer: Int?) -> Bool {
        state.withLock { state in
            // A connection that libmicrohttpd gave up before it told us of its start leaves its entry behind, until the
            // kernel hands out the descriptor again.
            if let stale = state.byDescriptor[connection.descriptor] { ConnectionTable.remove(stale, from: &state) }
            guard state.byDescriptor.count < limit else { return false }
            if let limitPerPeer, state.byPeer[connection.peer, default: 0] >= limitPerPeer { return false }
            state.byDescriptor[connection.descriptor] = connection
            state.byPeer[connection.peer, default: 0] += 1
            return true
        }
    }

    func removeAll() {
        state.withLock { $0 = State() }
    }

    func remove(_ connection: Connection) {
        state.withLock { ConnectionTable.remove(connection, from: &$0) }
    }

    private static func remove(_ connection: Connection, from state: inout State) {
        guard state.byDescriptor[connection.descriptor] === connection else { return }
        state.byDescriptor[connection.descriptor] = nil
        let left = state.byPeer[connection.peer, default: 0] - 1
        state.byPeer[connection.peer] = left > 0 ? left : nil
    }
}
