/// A part of a whole; without a whole it has no value.
package struct Rate: Hashable, Sendable {
    package var part: Int64
    package var whole: Int64

    package init(_ part: Int64, of whole: Int64) {
        (self.part, self.whole) = (part, whole)
    }

    package var value: Double? { whole == 0 ? nil : Double(part) / Double(whole) }

    package static func + (left: Rate, right: Rate) -> Rate {
        Rate(left.part + right.part, of: left.whole + right.whole)
    }
}
