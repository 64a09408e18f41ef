package import Values

/// A world's events at a steady rate, in real time.
package struct SteadyStream {
    private var world: World
    private let rate: Double
    /// The start of counting. It moves if the consumer cannot keep up.
    private var start: Timestamp
    private var counted = 0

    /// `rate` is in events per second. People react minutes after they see a notification, so the world runs for a
    /// while before the stream begins. So events flow from the first second.
    package init(rate: Double, seed: UInt64, from now: Timestamp) {
        // Fast streams need less time until enough phones are active. In tenths of a second.
        let lead = min(200, max(2, Int64(200_000 / rate)))
        self.rate = rate
        start = now + -lead * Span.second / 10
        world = World(steady: .news, seed: seed, installs: min(20_000, max(500, Int(rate * 60))), from: start)
        for tenth in 1...lead { _ = advance(to: start + tenth * Span.second / 10) }
    }

    /// Its categories and buttons in the format of `PUT /v1/categories`.
    package static var categoryDocument: String { AppProfile.news.categoryDocument }

    /// What its senders report about pushes since the last call: one send per campaign and variant.
    package mutating func takeSends() -> [SendText] { world.takeSends() }

    /// What phones have sent until now.
    package mutating func advance(to now: Timestamp) -> [Envelope] {
        var envelopes = world.advance(to: now)
        var wanted = Int(rate * Double(now - start) / 1e6)
        if Double(wanted - world.noted + counted) > max(rate / 2, 100) {
            // If it is half a second behind, it skips the missing events.
            start = now + -Span.second / 4
            counted = world.noted
            wanted = Int(rate / 4)
        }
        // A push to a silent phone records nothing, so limit the number of attempts.
        for _ in 0..<max(0, 4 * (wanted - world.noted + counted)) where world.noted - counted < wanted {
            world.push()
            envelopes += world.advance(to: now)
        }
        return envelopes
    }
}
