internal import Console
internal import ServiceRuntime
internal import Values

/// A clock that goes when it is wound, and never back.
///
/// Days in which everything arrived at the end would be a lie: nothing would be late, and no day would be restated. So the
/// service of a demonstration receives each envelope at the time at which its phone sends it.
final class SettableClock: Sendable {
    private let time: Lock<Timestamp>

    init(_ start: Timestamp) { time = Lock(start) }

    var now: Timestamp { time.withLock { $0 } }

    func wind(to later: Timestamp) { time.withLock { $0 = max($0, later) } }
}
