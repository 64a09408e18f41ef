/// The known keys of one kind of object, arranged for fast look-up: a key is compared only with keys of the same
/// length.
package struct JSONKeys: Sendable {
    /// A set of keys: one bit per key, by its ordinal.
    package typealias Set = UInt128

    private let names: [StaticString]
    /// The ordinal of each name; the names are sorted by length.
    private let ordinals: [UInt8]
    /// For each length, where its names begin, plus the end.
    private let starts: [Int]

    /// All ordinals are below this, so that a set of them fits into one word.
    package static let limit = Set.bitWidth

    private static let longest = 63

    /// Keys with the ordinals that the owner gives them. No key may be empty or longer than 63 bytes.
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

    /// Keys whose ordinals are their indexes.
    package init(_ given: [StaticString]) {
        self.init(given.enumerated().map { ($0.element, $0.offset) })
    }

    /// The ordinal of a key; nil for another key.
    package func ordinal(of key: JSONText) -> Int? {
        guard key.count <= JSONKeys.longest else { return nil }
        for index in starts[key.count]..<starts[key.count + 1] where key.spells(names[index]) {
            return Int(ordinals[index])
        }
        return nil
    }
}

/// The positions of the known members of an object. It is created once, and reused for one object after another.
@safe package final class JSONFields {
    private let keys: JSONKeys
    // SAFETY: made in `init`, freed in `deinit`, never handed out. It is behind a pointer because the exclusivity
    // checks for properties of a class would cost as much as all other work here.
    private let state: UnsafeMutablePointer<State>

    private struct State {
        var object: JSONValue?
        var present: JSONKeys.Set = 0
        var hasUnknown = false
        /// By ordinal; 0 for a missing key.
        var positions = InlineArray<128, UInt32>(repeating: 0)
    }

    /// Creates the fields without an object.
    package init(_ keys: JSONKeys) {
        self.keys = keys
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State())
    }

    deinit {
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// The keys whose last member is neither null nor an empty string.
    package var present: JSONKeys.Set { unsafe state.pointee.present }

    /// Replaces the current contents with those of an object, if there is one. If a key is repeated, the last one wins.
    package func find(in object: JSONValue?) {
        unsafe state.pointee.object = object
        if unsafe state.pointee.present != 0 { unsafe state.pointee.positions = InlineArray(repeating: 0) }
        unsafe state.pointee.present = 0
        unsafe state.pointee.hasUnknown = false
        guard let object else { return }
        for (key, value) in object.members {
            guard let ordinal = keys.ordinal(of: key) else {
                unsafe state.pointee.hasUnknown = true
                continue
            }
            let bit: JSONKeys.Set = 1 &<< JSONKeys.Set(truncatingIfNeeded: ordinal)
            if value.isVoid {
                unsafe state.pointee.present &= ~bit
                unsafe state.pointee.positions[ordinal] = 0
            } else {
                unsafe state.pointee.present |= bit
                unsafe state.pointee.positions[ordinal] = UInt32(value.position)
            }
        }
    }

    /// The value of a key by its ordinal; nil if the key is missing.
    package func value(of ordinal: Int) -> JSONValue? {
        let position = unsafe state.pointee.positions[ordinal]
        return position == 0 ? nil : unsafe state.pointee.object?.value(at: Int(position))
    }

    /// The members with unknown keys, and those with known keys in `known`. Of a repeated key, the last one counts.
    /// Leaves out members that `isOmitted` names, and members that are null or empty.
    package func rest(keeping known: JSONKeys.Set, omitting isOmitted: (JSONText) -> Bool) -> [JSONMember] {
        guard unsafe state.pointee.hasUnknown || present & known != 0, let object = unsafe state.pointee.object else {
            return []
        }
        return object.distinctMembers { key in
            if let ordinal = keys.ordinal(of: key) { holds(known, ordinal) } else { !isOmitted(key) }
        }.filter { !$0.value.isVoid }
    }
}

private func holds(_ set: JSONKeys.Set, _ ordinal: Int) -> Bool {
    set &>> JSONKeys.Set(truncatingIfNeeded: ordinal) & 1 == 1
}

extension JSONValue {
    /// Whether the value says nothing: null or an empty string.
    package var isVoid: Bool { isNull || text?.isEmpty == true }
}
