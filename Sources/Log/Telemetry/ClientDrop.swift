package import Values

/// Events that a client had to drop before it could send them.
package struct ClientDrop: Hashable, Sendable {
    package let id: UUID
    package let count: Int64
    /// The time from which events were lost, if the client says.
    package let since: Timestamp?
    /// Nil if the client says none that is known here.
    package let reason: Reason?

    package init(id: UUID, count: Int64, since: Timestamp?, reason: Reason?) {
        self.id = id
        self.count = count
        self.since = since
        self.reason = reason
    }

    /// Why the client threw events away.
    package enum Reason: Int16, WireEnum {
        case age = 1
        case size
        case unreadable

        package var wire: String {
            switch self {
            case .age: "age"
            case .size: "size"
            case .unreadable: "unreadable"
            }
        }
    }
}
