package import Values

/// A world's events at an even rate, in the present.
package struct SteadyStream {
    private var world: World
    private let rate: Double
    /// When the counting began; moved when whoever takes the events cannot keep up.
    private var start: Timestamp
    private var counted = 0

    /// `rate` is in events a second. What people do follows what they are shown by minutes; some of that has been
    /// going on already, so that the stream flows from its first second.
    package init(rate: Double, seed: UInt64, from now: Timestamp) {
        // Fast streams have enough phones on their way after less. In tenths of a second.
        let lead = min(200, max(2, Int64(200_000 / rate)))
        self.rate = rate
        start = now + -lead * Span.second / 10
        world = World(steady: .news, seed: seed, installs: min(20_000, max(500, Int(rate * 60))), from: start)
        for tenth in 1...lead { _ = advance(to: start + tenth * Span.second / 10) }
    }

    /// Its categories and buttons, in the shape of `PUT /v1/categories`.
    package static var categoryDocument: String { AppProfile.news.categoryDocument }

    /// What its senders tell of what was pushed since they were asked last: a send of each campaign and variant.
    package mutating func takeSends() -> [SendText] { world.takeSends() }

    /// What phones have sent up to now.
    package mutating func advance(to now: Timestamp) -> [Envelope] {
        var envelopes = world.advance(to: now)
        var wanted = Int(rate * Double(now - start) / 1e6)
        if Double(wanted - world.noted + counted) > max(rate / 2, 100) {
            // Half a second behind: what was not made is not made up for.
            start = now + -Span.second / 4
            counted = world.noted
            wanted = Int(rate / 4)
        }
        // A silent phone notes nothing, so this many attempts must do.
        for _ in 0..<max(0, 4 * (wanted - world.noted + counted)) where world.noted - counted < wanted {
            world.push()
            envelopes += world.advance(to: now)
        }
        return envelopes
    }
}
