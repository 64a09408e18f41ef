internal import ServiceRuntime

/// The text of `/metrics`. Rendering it takes as long as many small requests, and anybody may ask for it. So it is
/// rendered a few times a second at most, and further requests get the last text.
final class MetricsPage: Sendable {
    /// Monitors that ask at the same time all get present numbers, and so does a person who looks twice.
    static let mostInASecond = 5

    private struct State {
        var bytes: [UInt8] = []
        var rendered = 0
        var secondEnds = Deadline(nanoseconds: 0)
    }

    private let registry: Metrics
    private let state = Lock(State())

    init(_ registry: Metrics) { self.registry = registry }

    var bytes: [UInt8] {
        state.withLock { state in
            if state.secondEnds.hasPassed { (state.rendered, state.secondEnds) = (0, .after(seconds: 1)) }
            guard state.rendered < MetricsPage.mostInASecond else { return state.bytes }
            state.rendered += 1
            state.bytes = Array(registry.render().utf8)
            return state.bytes
        }
    }
}
