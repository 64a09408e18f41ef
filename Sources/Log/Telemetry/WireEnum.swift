/// An enumeration with a word on the wire and a number in the log.
///
/// Both are frozen: clients in the field send the words, and stored events hold the numbers. The numbers count from 1
/// without a gap; a new case goes to the end.
package protocol WireEnum: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == Int16 {
    /// The word on the wire.
    var wire: String { get }

    /// The case with exactly this word; nil for a word that this version does not know.
    ///
    /// It is a requirement, although every enumeration has the same body, so that each has its own version, compiled
    /// for it alone.
    init?(wire word: Span<UInt8>)
}

extension WireEnum {
    package init?(wire word: Span<UInt8>) {
        var code: Int16 = 1
        while let candidate = Self(rawValue: code) {
            if word.spells(candidate.wire) {
                self = candidate
                return
            }
            code += 1
        }
        return nil
    }

    /// The case with exactly this word; nil for a word that this version does not know.
    package init?(wire word: String) {
        self.init(wire: word.utf8.span)
    }
}

extension Span<UInt8> {
    fileprivate func spells(_ word: String) -> Bool {
        let letters = word.utf8.span
        guard count == letters.count else { return false }
        for position in indices where self[position] != letters[position] { return false }
        return true
    }
}
