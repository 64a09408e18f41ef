import JSON
import Telemetry

/// Sets of members that the decoder needs for each event, by the code of its type. Each reader holds a copy, since
/// every access to a static property checks whether it is initialised.
struct MemberTables {
    /// By member.
    static let names = Member.allCases.map(\.declaration.key)

    /// The members that are read from an event, by the code of its type. All others are unknown to it.
    let known = MemberTables.sets { _ in true }

    /// The required members of an event, by the code of its type.
    let required = MemberTables.sets {
        $0.declaration.isRequired && $0.declaration.object == .event && $0 != .notification
    }

    /// The event's own members whose values are read one by one.
    let own = MemberTables.sets { member in
        let isRead = ![.eventID, .type, .deviceAt, .notification, .source, .media].contains(member)
        return member.declaration.object == .event && isRead
    }

    /// The members that are read before the type is known.
    let identity = Member.eventID.bit | Member.type.bit | Member.deviceAt.bit

    /// The members that name the notification: one of them is required.
    let notificationIDs = Member.fcmMessageID.bit | Member.deliveryID.bit | Member.notificationID.bit

    /// The members of `source` that are words of an enumeration, or an object of such.
    static let sourceObjects: [Member] = [.settings]
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

    /// The raw value, which is the place among the cases. Reading `rawValue` would call into another module for each
    /// value of an event.
    var ordinal: Int { Int(unsafeBitCast(self, to: UInt8.self)) }
}
