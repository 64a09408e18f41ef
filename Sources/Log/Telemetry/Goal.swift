/// What the app is for, reached by an install: a purchase, a subscription, a finished level.
package struct Goal: Hashable, Sendable {
    package var name: String
    /// In millionths.
    package var value: Int64?
    /// Three letters, such as EUR.
    package var currency: String?

    package init(_ name: String, value: Int64? = nil, currency: String? = nil) {
        (self.name, self.value, self.currency) = (name, value, currency)
    }
}

/// An amount with exactly six decimals, as its millionths.
package enum Millionths {
    /// How many there are in one.
    package static let one: Int64 = 1_000_000
    private static let decimals = 6
    /// As long as any other text may be. More digits say nothing, and somebody would send a million.
    private static let longest = 512

    /// Reads a number as JSON writes it: `12`, `0.5`, `1.25e3`. Further decimals are rounded, a half to the even
    /// neighbour. Nil for anything else, for a negative number and from `whole` on.
    package static func read(_ text: Span<UInt8>, below whole: Int64) -> Int64? {
        guard text.count <= longest, let number = Literal(text) else { return nil }
        // A negative number is refused even if it rounds to 0; -0.00 is 0.
        guard number.digits.contains(where: { $0 != 0 }) else { return 0 }
        guard !number.isNegative else { return nil }
        // The digits stand before the point as often as `point` says: shift it, and cut there.
        let places = number.point + decimals
        var value: Int64 = 0
        for place in 0..<max(0, min(places, number.digits.count)) {
            guard let next = appended(number.digits[place], to: value) else { return nil }
            value = next
        }
        for _ in 0..<max(0, places - number.digits.count) where value != 0 {
            guard let next = appended(0, to: value) else { return nil }
            value = next
        }
        // What is cut off: compare it with a half.
        if places >= 0, places < number.digits.count {
            let rest = number.digits[places...]
            let isMore = rest.dropFirst().contains { $0 != 0 }
            let first = rest[places]
            if first > 5 || first == 5 && (isMore || value % 2 == 1) { value += 1 }
        }
        return value < whole * one ? value : nil
    }

    private static func appended(_ digit: UInt8, to value: Int64) -> Int64? {
        let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflows) = tenfold.addingReportingOverflow(Int64(digit))
        return isTooLarge || overflows ? nil : sum
    }

    /// The parts of a number as JSON writes it.
    private struct Literal {
        var isNegative = false
        /// Without leading zeros.
        var digits: [UInt8] = []
        /// How many digits stand before the decimal point; negative if zeros follow it.
        var point = 0

        init?(_ text: Span<UInt8>) {
            var place = 0
            func peek() -> UInt8? { place < text.count ? text[place] : nil }
            if peek() == UInt8(ascii: "-") { (isNegative, place) = (true, 1) }
            var hasDigits = false
            func digit() -> UInt8? {
                guard let byte = peek(), 0x30...0x39 ~= byte else { return nil }
                place += 1
                hasDigits = true
                return byte - 0x30
            }
            while let next = digit() {
                if next != 0 || !digits.isEmpty { digits.append(next) }
            }
            guard hasDigits else { return nil }
            point = digits.count
            if peek() == UInt8(ascii: ".") {
                place += 1
                hasDigits = false
                while let next = digit() {
                    if next == 0, digits.isEmpty { point -= 1 } else { digits.append(next) }
                }
                guard hasDigits else { return nil }
            }
            if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
                place += 1
                var isMinus = false
                if let sign = peek(), sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                    isMinus = sign == UInt8(ascii: "-")
                    place += 1
                }
                hasDigits = false
                var exponent = 0
                // An absurd exponent is as good as a large one.
                while let next = digit() { exponent = min(exponent * 10 + Int(next), 100_000) }
                guard hasDigits else { return nil }
                point += isMinus ? -exponent : exponent
            }
            guard place == text.count else { return nil }
        }
    }
}
