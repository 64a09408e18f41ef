/// A name as a key: equal only where its bytes are, and ordered by them, as in the database. To `String` the two
/// spellings of "é" are one text, and two categories would be one.
struct ExactName: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactName, right: ExactName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    static func < (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // Equal bytes make equal strings, and equal strings hash alike.
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
