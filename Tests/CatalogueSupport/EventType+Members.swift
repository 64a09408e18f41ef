package import Telemetry

extension EventType {
    /// The members of the event itself that an event of this type is read from.
    package var members: [Member] { Member.members(of: .event).filter { $0.declaration.types.contains(self) } }

    package var required: [Member] { members.filter(\.declaration.isRequired) }

    /// Whether it is about a notification.
    package var hasNotification: Bool { members.contains(.notification) }
}

extension Member {
    package var key: String { "\(declaration.key)" }

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
