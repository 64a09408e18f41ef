internal import Accounts
internal import Envelopes
internal import EventLog
internal import Telemetry

/// Which events a key may tell. A write key is in every copy of the app, so an app may take goals from its own servers
/// alone; and a server key tells nothing else, since what a phone saw only the phone knows.
struct KeyRule {
    private let kind: APIKey.Kind
    private let goals: GoalSource

    init(_ access: Access) { (kind, goals) = (access.kind, access.goals) }

    /// Of an event that was rejected before: by what its key may tell now.
    init(_ rejection: StoredRejection) {
        kind = rejection.keyKind.flatMap(APIKey.Kind.init) ?? .write
        goals = GoalSource(rawValue: rejection.goals) ?? .any
    }

    /// Whether no event of an envelope may come with the key, so that whoever sends it must take another one. An app
    /// that is built with a server key by mistake must keep its events instead of being told to drop them one by one.
    func refusesAll(of envelope: DecodedEnvelope) -> Bool {
        guard kind == .server else { return false }
        let accepted = envelope.accepted
        return !accepted.isEmpty && !accepted.contains { envelope.events[$0].type == .goalReached }
    }

    fileprivate var takesAll: Bool { kind == .write && goals == .any }

    fileprivate func rejection(of type: EventType) -> Rejection? {
        switch (kind, type) {
        case (.server, .goalReached): nil
        case (.server, _): Rejection(.notAllowed, "type: with a server key only goal.reached is taken")
        case (.write, .goalReached) where goals == .server:
            Rejection(.notAllowed, "type: this app takes goal.reached with a server key alone")
        case (.write, _): nil
        }
    }
}

extension DecodedEnvelope {
    /// The same envelope, in which the events that the key may not tell are rejected.
    func kept(to rule: KeyRule) -> DecodedEnvelope {
        guard !rule.takesAll else { return self }
        var events = events
        var refused: [RejectedEvent] = []
        for index in accepted {
            guard let rejection = rule.rejection(of: events[index].type) else { continue }
            refused.append(
                RejectedEvent(
                    index: index, id: events[index].id, install: install(of: index), rejection: rejection,
                    raw: rawEvent(index)))
            events[index] = EventRecord()
        }
        guard !refused.isEmpty else { return self }
        return DecodedEnvelope(
            receivedAt: receivedAt, sentAt: sentAt, installID: installID, events: events,
            rejected: (rejected + refused).sorted { $0.index < $1.index }, sources: sources, texts: texts, drops: drops,
            invalidDrops: invalidDrops, raw: raw)
    }
}
