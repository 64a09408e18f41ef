/// Random numbers that are the same in every run for the same seed (xorshift64*).
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        // Seeds that follow each other must not start alike, and the state must never be 0.
        state = (seed &+ 1) &* 0x9e37_79b9_7f4a_7c15 | 1
        for _ in 0..<8 { _ = next() }
    }

    package mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }

    /// True once in `times`.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    /// Any of them; there must be one.
    mutating func pick<Choices: Collection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: Int.random(in: 0..<choices.count, using: &self))]
    }
}
