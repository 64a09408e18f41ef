/// The keys by which objects of one sort are known, made for finding them fast: a key is compared with those of its own
/// length only.
package struct JSONKeys: Sendable {
    private let names: [StaticString]
    /// For each of the names, which are sorted by length, the place where it was given.
    private let ordinals: [UInt8]
    /// For each length, and one more, where its names begin.
    private let starts: [Int]

    /// How many keys there may be, so that a set of them fits a word.
    package static let limit = 32

    private static let longest = 63

    /// None empty, none longer than 63 bytes.
    package init(_ given: [StaticString]) {
        precondition(
            given.count <= JSONKeys.limit && given.allSatisfy { (1...JSONKeys.longest).contains($0.utf8CodeUnitCount) })
        let sorted = given.enumerated().sorted { $0.element.utf8CodeUnitCount < $1.element.utf8CodeUnitCount }
        names = sorted.map(\.element)
        ordinals = sorted.map { UInt8($0.offset) }
        starts = (0...JSONKeys.longest + 1).map { length in
            sorted.count { $0.element.utf8CodeUnitCount < length }
        }
    }

    /// The place of a key among those given; nil for another key.
    package func ordinal(of key: JSONText) -> Int? {
        guard key.count <= JSONKeys.longest else { return nil }
        for place in starts[key.count]..<starts[key.count + 1] where key.spells(names[place]) {
            return Int(ordinals[place])
        }
        return nil
    }
}
