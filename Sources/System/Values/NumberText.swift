extension String {
    /// A number in at least so many digits: `0042`.
    package init(_ number: some BinaryInteger, digits: Int, radix: Int = 10, uppercase: Bool = false) {
        let text = String(number, radix: radix, uppercase: uppercase)
        self = String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }

    /// `1 button`, `12 buttons`
    package init(counting number: some BinaryInteger, _ one: String, _ many: String) {
        self = "\(number) \(number == 1 ? one : many)"
    }
}

// Initializers of one argument would make `map(String.init)` ambiguous.
extension BinaryInteger {
    /// What it is as a number of millionths, as people and JSON write it: `184020.5`.
    package var textOfMillionths: String {
        let (whole, rest) = magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var fraction = String(rest, digits: 6)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return (self < 0 ? "-" : "") + "\(whole)" + (fraction.isEmpty ? "" : ".\(fraction)")
    }
}

extension Sequence<UInt8> {
    /// In lower case, two digits each.
    package var hex: String { map { String($0, digits: 2, radix: 16) }.joined() }
}
