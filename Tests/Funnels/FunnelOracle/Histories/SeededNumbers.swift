/// Random numbers that are the same in every run for the same seed (xorshift64*).
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64
    private var steering: ArraySlice<UInt8>

    /// With `steering`, each of these bytes is the upper end of a number, as long as there are some: it makes the choice
    /// among up to 256 things. So a fuzzer that changes bytes changes choices.
    package init(seed: UInt64, steeredBy steering: [UInt8] = []) {
        self.steering = steering[...]
        // Seeds that follow each other must not start alike, and the state must never be 0.
        state = (seed &+ 1) &* 0x9e37_79b9_7f4a_7c15 | 1
        for _ in 0..<8 { advance() }
    }

    private mutating func advance() {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
    }

    package mutating func next() -> UInt64 {
        advance()
        let number = state &* 0x2545_f491_4f6c_dd1d
        guard let byte = steering.popFirst() else { return number }
        return number >> 8 | UInt64(byte) << 56
    }

    /// True once in `times`.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    /// Any of them; there must be one.
    mutating func pick<Choices: Collection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: Int.random(in: 0..<choices.count, using: &self))]
    }
}
