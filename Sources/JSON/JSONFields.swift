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
        for index in starts[key.count]..<starts[key.count + 1] where key.spells(names[index]) {
            return Int(ordinals[index])
        }
        return nil
    }
}

/// Where the known members of one object stand. Made once, and used for one object after another.
@safe package final class JSONFields {
    private let keys: JSONKeys
    // SAFETY: made in `init`, freed in `deinit`, never handed out. Behind a pointer because the checks for exclusive
    // access to the properties of a class would cost as much as all the rest of what is done here.
    private let state: UnsafeMutablePointer<State>

    private struct State {
        var object: JSONValue?
        var present: JSONKeys.Set = 0
        var hasUnknown = false
        /// By ordinal; 0 for a key that is not present.
        var positions = InlineArray<128, UInt32>(repeating: 0)
    }

    /// Fields of no object.
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

    /// Forgets what it knew and goes through an object, if there is one. Repeated keys: the last wins.
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

    /// The value of a key by its ordinal; nil when it is not present.
    package func value(of ordinal: Int) -> JSONValue? {
        let position = unsafe state.pointee.positions[ordinal]
        return position == 0 ? nil : unsafe state.pointee.object?.value(at: Int(position))
    }

    /// The members of unknown keys, and of the known ones in `known`, each by its last occurrence, except
    /// those that `isOmitted` names and those that are null or empty.
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
    /// Whether this is null or an empty string: values that say nothing.
    package var isVoid: Bool { isNull || text?.isEmpty == true }
}
