import JSON
import Telemetry
import Values

/// The known members of one object, with typed accessors. Of repeated members the last counts.
///
/// A null and an empty string count as absent. A wrong value throws `invalid_field`. A reader is reused for many
/// objects, since making one for each would cost more than reading it.
final class ObjectReader<Name: MemberName> {
    private(set) var path = ObjectPath.envelopeSource
    /// Whether there is an object. A missing one reads as an object without members.
    private(set) var isThere = false
    /// The known members whose raw values go into `extra` as well.
    var kept: JSONKeys.Set = 0
    private let fields: JSONFields

    init(_ keys: JSONKeys) { fields = JSONFields(keys) }

    /// Starts with another object, or with none.
    func begin(_ object: JSONValue?, _ path: ObjectPath) {
        fields.find(in: object)
        self.path = path
        isThere = object != nil
        kept = 0
    }

    /// The members that are present.
    var present: JSONKeys.Set { fields.present }

    func has(_ member: Name) -> Bool { fields.present & member.bit != 0 }

    subscript(member: Name) -> JSONValue? { fields.value(of: member.ordinal) }

    func value(of ordinal: Int) -> JSONValue? { fields.value(of: ordinal) }

    /// The members of this object that go into `extra`: unknown ones and those marked as kept, but no free text.
    var leftovers: [JSONMember] { fields.rest(keeping: kept, omitting: isFreeText) }

    /// A rejection that names a member.
    func invalid(_ member: Name, _ problem: String) -> Rejection {
        Rejection(.invalidField, "\(path.text).\(member.name): \(problem)")
    }
}

extension ObjectReader {
    func integer(_ member: Name, in range: ClosedRange<Int64>) throws(Rejection) -> Int64? {
        guard let value = self[member] else { return nil }
        guard let number = value.number else { throw invalid(member, "must be a number, not \(value.kind.words)") }
        guard let integer = number.integer, range.contains(integer) else {
            throw invalid(member, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// A word of an enumeration. An unknown word gives nil and is marked as kept.
    func word<Word: WireEnum>(_ member: Name) throws(Rejection) -> Word? {
        guard let value = self[member] else { return nil }
        guard let text = value.text else { throw invalid(member, "must be a string, not \(value.kind.words)") }
        let word = Word(wire: text.utf8.span)
        if word == nil { kept |= member.bit }
        return word
    }

    /// A time. If it cannot be read, this gives nil and marks it as kept.
    func time(_ member: Name) throws(Rejection) -> Timestamp? {
        guard let value = self[member] else { return nil }
        guard value.kind == .string || value.kind == .number else {
            throw invalid(member, "must be a string or a number, not \(value.kind.words)")
        }
        let time = value.timestamp
        if time == nil { kept |= member.bit }
        return time
    }
}

extension ObjectReader<Member> {
    /// Marks a member whose raw value goes into `extra` as well.
    func keep(_ ordinal: Int) { kept |= 1 &<< JSONKeys.Set(truncatingIfNeeded: ordinal) }

    /// A rejection that names a member.
    func invalid(_ ordinal: Int, _ problem: String) -> Rejection {
        Rejection(.invalidField, "\(path.text).\(MemberTables.names[ordinal]): \(problem)")
    }

    /// Marks `settings` for `extra` if something in it is not declared.
    func keepUnknownSettings(_ settings: ObjectReader<Member>, _ plans: MemberPlans) {
        guard let value = self[.settings], value.isObject else { return }
        settings.begin(value, .settings(of: path))
        for member in Member.members(of: .settings) { settings.keepUnknownWord(member, plans) }
        if !settings.leftovers.isEmpty { kept |= Member.settings.bit }
    }

    /// Marks an undeclared word for `extra`.
    func keepUnknownWord(_ member: Member, _ plans: MemberPlans) {
        guard let text = self[member]?.text else { return }
        if plans.code(of: text, plans.plans[member.ordinal]) == 0 { kept |= member.bit }
    }
}
