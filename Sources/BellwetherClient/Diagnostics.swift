internal import Foundation

/// Hands what happened to everybody who listens, and counts it.
final class Diagnostics: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<Diagnostic>.Continuation] = [:]
        var counts: [Diagnostic.Kind: Int] = [:]
        // What happened before anybody could listen: the first events are recorded while an app starts.
        var early: [Diagnostic] = []
    }

    private static let earlyLimit = 20
    private let state = Guarded(State())

    func post(_ diagnostic: Diagnostic) {
        let listeners = state.withLock { state in
            state.counts[diagnostic.kind, default: 0] += diagnostic.count
            if state.listeners.isEmpty, state.early.count < Diagnostics.earlyLimit { state.early.append(diagnostic) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(diagnostic) }
    }

    /// How many events of a kind there were since the process began.
    func count(of kind: Diagnostic.Kind) -> Int { state.withLock { $0.counts[kind, default: 0] } }

    /// What happens from now on, and the first things that nobody heard. A slow listener misses the oldest.
    func stream() -> AsyncStream<Diagnostic> {
        let (stream, continuation) = AsyncStream.makeStream(of: Diagnostic.self, bufferingPolicy: .bufferingNewest(100))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        let early = state.withLock { state in
            state.listeners[id] = continuation
            defer { state.early = [] }
            return state.early
        }
        for diagnostic in early { continuation.yield(diagnostic) }
        return stream
    }
}
