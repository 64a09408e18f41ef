/// The keys by which objects of one sort are known, made for finding them fast: a key is compared with those of its own
/// length only.
package struct JSONKeys: Sendable {
    /// A set of keys: a bit for each, by its ordinal.
    package typealias Set = UInt128

    private let names: [StaticString]
    /// For each of the names, which are sorted by length, its ordinal.
    private let ordinals: [UInt8]
    /// For each length, and one more, where its names begin.
    private let starts: [Int]

    /// Ordinals are below this, so that a set of them fits a word.
    package static let limit = Set.bitWidth

    private static let longest = 63

    /// Keys with the ordinals that they have among their owner's. None is empty, none longer than 63 bytes.
    package init(_ given: [(key: StaticString, ordinal: Int)]) {
        precondition(
            given.allSatisfy { key, ordinal in
                (0..<JSONKeys.limit).contains(ordinal) && (1...JSONKeys.longest).contains(key.utf8CodeUnitCount)
            })
        let sorted = given.sorted { $0.key.utf8CodeUnitCount < $1.key.utf8CodeUnitCount }
        names = sorted.map(\.key)
        ordinals = sorted.map { UInt8($0.ordinal) }
        starts = (0...JSONKeys.longest + 1).map { length in
            sorted.count { $0.key.utf8CodeUnitCount < length }
        }
    }

    /// Keys whose ordinals are their places.
    package init(_ given: [StaticString]) {
        self.init(given.enumerated().map { ($0.element, $0.offset) })
    }

    /// The ordinal of a key; nil for another key.
    package func ordinal(of key: JSONText) -> Int? {
        guard key.count <= JSONKeys.longest else { return nil }
        for place in starts[key.count]..<starts[key.count + 1] where key.spells(names[place]) {
            return Int(ordinals[place])
        }
        return nil
    }
}
