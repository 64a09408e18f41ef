package import FunnelOracle

extension SeededNumbers {
    package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True once in `times`.
    package mutating func happens(onceIn times: Int) -> Bool { number(1...times) == 1 }

    /// Any of them; there must be one.
    package mutating func any<Choice>(_ choices: [Choice]) -> Choice { choices[number(0...(choices.count - 1))] }

    /// The same, parted at random into some groups, none of them empty, in any order.
    package mutating func parted<Part>(_ parts: [Part]) -> [[Part]] {
        let groups = number(1...min(6, max(1, parts.count)))
        return Dictionary(grouping: parts.shuffled(using: &self)) { _ in number(1...groups) }
            .sorted { $0.key < $1.key }.map(\.value)
    }
}
