internal import Glibc

/// Random numbers (SplitMix64). The same seed always gives the same numbers.
struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Dice.mix(state)
    }

    /// Mixes 64 bits: similar inputs give very different outputs, always the same ones.
    static func mix(_ bits: UInt64) -> UInt64 {
        var bits = bits
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }

    /// From 0 to just under 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True with this probability.
    mutating func chance(_ share: Double) -> Bool { unit() < share }

    mutating func between(_ low: Double, _ high: Double) -> Double { low + unit() * (high - low) }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// The time that people take for something: mostly near the median, sometimes many times as long.
    mutating func lognormal(median: Double, spread: Double) -> Double { median * exp(spread * normal()) }

    /// The time until an event that happens every `mean` on average, no matter when it last happened.
    mutating func waiting(mean: Double) -> Double { -mean * log(1 - unit()) }

    /// Any of them; there must be at least one.
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[number(in: 0...choices.count - 1)] }

    /// Any of them, by weight; there must be at least one.
    mutating func pick<Choice>(_ choices: [Choice], by weight: (Choice) -> Double) -> Choice {
        var rest = unit() * choices.reduce(0) { $0 + weight($1) }
        for choice in choices {
            rest -= weight(choice)
            if rest < 0 { return choice }
        }
        return choices[choices.count - 1]
    }

    private mutating func normal() -> Double {
        // The Box–Muller transform; the second number of the pair is not used.
        (-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit())
    }
}
