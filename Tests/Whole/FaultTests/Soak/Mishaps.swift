import FunnelOracle
import ServiceRuntime

/// What has happened, and whether something happens now: who failed meanwhile has an excuse.
final class Mishaps: Sendable {
    private struct State {
        var counts: [Mishap: Int] = [:]
        var begun = 0
        var isActive = false
    }

    private let state = Lock(State())

    /// How often each thing has happened.
    var counts: [Mishap: Int] { state.withLock { $0.counts } }

    /// A moment of quiet, or nil while something happens. Equal moments have nothing between them.
    var quiet: Int? { state.withLock { $0.isActive ? nil : $0.begun } }

    /// Notes one from its beginning until `body` returns.
    func note(_ mishap: Mishap, _ body: () throws -> Void) rethrows {
        state.withLock { state in
            state.begun += 1
            state.isActive = true
            state.counts[mishap, default: 0] += 1
        }
        defer { state.withLock { $0.isActive = false } }
        try body()
    }
}

/// All mishaps in random order, again and again: each comes as often as the others.
struct Deck {
    private var left: [Mishap] = []

    mutating func deal(_ numbers: inout SeededNumbers) -> Mishap {
        if left.isEmpty { left = Mishap.allCases.shuffled(using: &numbers) }
        return left.removeLast()
    }
}
