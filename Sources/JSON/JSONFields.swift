/// Where the known members of one object stand. Made once, and used for one object after another.
@safe package final class JSONFields {
    private let keys: JSONKeys
    // SAFETY: made in `init`, freed in `deinit`, never handed out. Behind a pointer because the checks for exclusive
    // access to the properties of a class would cost as much as all the rest of what is done here.
    private let state: UnsafeMutablePointer<State>

    private struct State {
        var object: JSONValue?
        var present: UInt32 = 0
        var hasUnknown = false
        var positions = InlineArray<32, UInt32>(repeating: 0)
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

    /// A bit for each key whose last member is neither null nor an empty string, the first key's being the lowest.
    package var present: UInt32 { unsafe state.pointee.present }

    /// Forgets what it knew and goes through an object, if there is one. Repeated keys: the last wins.
    package func find(in object: JSONValue?) {
        unsafe state.pointee.object = object
        unsafe state.pointee.present = 0
        unsafe state.pointee.hasUnknown = false
        guard let object else { return }
        for (key, value) in object.members {
            guard let ordinal = keys.ordinal(of: key) else {
                unsafe state.pointee.hasUnknown = true
                continue
            }
            unsafe state.pointee.positions[ordinal] = UInt32(value.position)
            let bit: UInt32 = 1 << UInt32(ordinal)
            if value.isVoid {
                unsafe state.pointee.present &= ~bit
            } else {
                unsafe state.pointee.present |= bit
            }
        }
    }

    /// The value of a key by its ordinal; nil when it is not present.
    package func value(of ordinal: Int) -> JSONValue? {
        guard present >> UInt32(ordinal) & 1 == 1 else { return nil }
        return unsafe state.pointee.object?.value(at: Int(state.pointee.positions[ordinal]))
    }

    /// The members of unknown keys, and of the known ones with a bit in `known`, each by its last occurrence, except
    /// those that `isOmitted` names and those that are null or empty.
    package func rest(keeping known: UInt32, omitting isOmitted: (JSONText) -> Bool) -> [JSONMember] {
        guard unsafe state.pointee.hasUnknown || present & known != 0, let object = unsafe state.pointee.object else {
            return []
        }
        return object.distinctMembers { key in
            if let ordinal = keys.ordinal(of: key) { known >> UInt32(ordinal) & 1 == 1 } else { !isOmitted(key) }
        }.filter { !$0.value.isVoid }
    }
}

extension JSONValue {
    /// Whether this is null or an empty string: values that say nothing.
    package var isVoid: Bool { isNull || text?.isEmpty == true }
}
