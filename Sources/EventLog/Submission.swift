package import Telemetry
package import Values

/// What one request, or the part of it that belongs to one writer, wants stored.
package struct Submission: Sendable {
    package let app: Int32
    package let key: Int32
    package let receivedAt: Timestamp
    package let sentAt: Timestamp?
    package let events: [Event]
    package let rejected: [RejectedEvent]
    package let drops: [ClientDrop]
    /// The install that speaks, where the envelope names one.
    package let install: UUID?
    /// The envelope's source as it came, for what is refused.
    package let source: @Sendable () -> String?
    /// The bytes of an event (by its place in `events`) as they came: it may yet be refused.
    package let raw: @Sendable (Int) -> String

    package init(
        app: Int32, key: Int32, receivedAt: Timestamp, sentAt: Timestamp? = nil, events: [Event],
        rejected: [RejectedEvent] = [], drops: [ClientDrop] = [], install: UUID? = nil,
        source: @escaping @Sendable () -> String? = { nil },
        raw: @escaping @Sendable (Int) -> String = { _ in "" }
    ) {
        self.app = app
        self.key = key
        self.receivedAt = receivedAt
        self.sentAt = sentAt
        self.events = events
        self.rejected = rejected
        self.drops = drops
        self.install = install
        self.source = source
        self.raw = raw
    }
}

/// An event that was refused before it reached the log.
package struct RejectedEvent: Sendable {
    package let id: UUID?
    /// The install that it is of, where that could be read; else it is taken for the envelope's.
    package let install: UUID?
    package let rejection: Rejection
    /// As it came, cut to the bound.
    package let raw: String

    package init(id: UUID?, install: UUID? = nil, rejection: Rejection, raw: String) {
        self.id = id
        self.install = install
        self.rejection = rejection
        self.raw = raw
    }
}

/// What became of one event.
package enum Verdict: Sendable, Equatable {
    case accepted
    case duplicate
    case rejected(Rejection)
}
