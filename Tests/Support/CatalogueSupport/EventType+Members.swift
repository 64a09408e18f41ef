package import Telemetry

extension EventType {
    /// The members of the event itself that an event of this type is read from.
    package var members: [Member] { Member.members(of: .event).filter { $0.declaration.types.contains(self) } }

    package var required: [Member] { members.filter { $0.isRequired(of: self) } }

    /// Whether it is about a notification, and must name it.
    package var hasNotification: Bool { Member.notification.isRequired(of: self) }
}

extension Member {
    package var key: String { "\(declaration.key)" }

    /// Whether an event of a type is rejected without it.
    package func isRequired(of type: EventType) -> Bool {
        declaration.isRequired && declaration.types.contains(type) && !(self == .notification && type.isAboutInstall)
    }

    /// The types that carry it, in order.
    package var types: [EventType] { EventType.allCases.filter(declaration.types.contains) }

    /// The words that it may be.
    package var words: [String] {
        switch declaration.kind {
        case .code(let words), .codes(let words): words
        default: []
        }
    }
}
