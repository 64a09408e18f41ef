import JSON

/// The members that an object of the envelope is known by.
protocol MemberName {
    /// The member's key.
    var name: StaticString { get }

    /// Its place among all members, below `JSONKeys.limit`.
    var ordinal: Int { get }
}

extension MemberName {
    /// The member as a set.
    var bit: JSONKeys.Set { 1 &<< JSONKeys.Set(truncatingIfNeeded: ordinal) }
}
