import JSON
import Telemetry

/// What the decoder asks of the catalogue for each value, laid out flat: a declaration is too large to be fetched so often.
enum MemberTables {
    /// By member.
    static let names = Member.allCases.map(\.declaration.key)

    /// Bytes of a text, by member; 0 for a member of another kind.
    static let limits = Member.allCases.map { member in
        switch member.declaration.kind {
        case .text(let limit), .word(_, let limit): limit
        default: 0
        }
    }

    /// The range of a whole number, by member; only 0 for a member of another kind.
    static let integers = Member.allCases.map { member in
        if case .integer(let range) = member.declaration.kind { range } else { Int64(0)...0 }
    }

    /// The range of any other number likewise.
    static let numbers = Member.allCases.map { member in
        if case .number(let range) = member.declaration.kind { range } else { 0.0...0 }
    }

    /// The members that are read from an event, by the code of its type. Any other is to it an unknown one.
    static let known = sets { _ in true }

    /// The members without which an event is refused, by the code of its type.
    static let required = sets { $0.declaration.isRequired && $0.declaration.object == .event && $0 != .notification }

    /// Those that are looked for before the type is known.
    static let identity = Member.eventID.bit | Member.type.bit | Member.deviceAt.bit

    /// Those that say which notification it is: one of them must be there.
    static let notificationIDs = Member.fcmMessageID.bit | Member.deliveryID.bit | Member.notificationID.bit

    /// The members of `source` that are words of an enumeration.
    static let sourceCodes = Member.members(of: .source).filter { member in
        if case .code = member.declaration.kind { true } else { false }
    }

    static func keys(of object: Declaration.Object) -> JSONKeys {
        JSONKeys(Member.members(of: object).map { ($0.name, $0.ordinal) })
    }

    private static func sets(where isIn: (Member) -> Bool) -> [JSONKeys.Set] {
        (0...EventType.allCases.count).map { code in
            guard let type = EventType(rawValue: Int16(code)) else { return 0 }
            let members = Member.allCases.filter { $0.declaration.types.contains(type) && isIn($0) }
            return members.reduce(0) { $0 | $1.bit }
        }
    }
}

extension Member: MemberName {
    var name: StaticString { MemberTables.names[ordinal] }

    /// The raw value, which is the place among the cases. Asked for as such it would be a call into another module, for
    /// each value of an event.
    var ordinal: Int { Int(unsafeBitCast(self, to: UInt8.self)) }
}
