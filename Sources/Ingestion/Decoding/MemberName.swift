import JSON

/// The members that an object of the envelope is known by. At most 32, so that a set of them is a word.
protocol MemberName: RawRepresentable, CaseIterable where RawValue == UInt8 {
    /// The keys of all cases, in order.
    static var keys: JSONKeys { get }

    /// The member's key.
    var name: StaticString { get }
}

extension MemberName {
    var bit: UInt32 { 1 << UInt32(rawValue) }
}
