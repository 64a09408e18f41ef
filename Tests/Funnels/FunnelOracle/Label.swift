/// A text that equals another only when its bytes do, and sorts by them.
///
/// PostgreSQL compares text so. Swift's `String` does not: there the two spellings of "é" are one text, and two
/// categories would be counted as one.
package struct Label: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    /// What the contract writes for an attribute that no event gives.
    package static let empty: Label = ""

    package var description: String { text }

    package static func == (left: Label, right: Label) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package static func < (left: Label, right: Label) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // Equal bytes make equal strings, and equal strings hash alike.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
