/// How long to wait before the next try: it doubles each time, up to a limit, with jitter so that many clients do not
/// come back at the same moment.
package struct Backoff: Sendable {
    private let first: Double
    private let most: Double
    private var current: Double

    package init(first: Double, most: Double) {
        self.first = first
        self.most = most
        current = first
    }

    /// Seconds to wait now.
    package mutating func next() -> Double {
        defer { current = min(current * 2, most) }
        return Double.random(in: current / 2...current)
    }

    package mutating func reset() { current = first }
}
