package import Telemetry
package import Values

/// The content of one request, each event valid or rejected separately. From here to its row an event has one index:
/// its place in the envelope.
package final class DecodedEnvelope: Sendable {
    package let receivedAt: Timestamp
    /// The time by the client's clock when it sent the envelope; nil if absent or unreadable.
    package let sentAt: Timestamp?
    /// The install that the envelope's own `source` names; events may name others.
    package let installID: UUID?
    /// By index. The entry of a rejected event is empty.
    package let events: [EventRecord]
    /// Rejected events, in order.
    package let rejected: [RejectedEvent]
    package let sources: [SourceRecord]
    /// The texts of its events and sources, joined.
    package let texts: [UInt8]
    /// What the client reports as dropped.
    package let drops: [ClientDrop]
    /// A sentence for each entry of `dropped` that could not be read.
    package let invalidDrops: [String]
    /// The body, and where its parts are in it.
    package let raw: RawEnvelope

    package init(
        receivedAt: Timestamp, sentAt: Timestamp?, installID: UUID?, events: [EventRecord], rejected: [RejectedEvent],
        sources: [SourceRecord], texts: [UInt8], drops: [ClientDrop], invalidDrops: [String] = [], raw: RawEnvelope
    ) {
        self.receivedAt = receivedAt
        self.sentAt = sentAt
        self.installID = installID
        self.events = events
        self.rejected = rejected
        self.sources = sources
        self.texts = texts
        self.drops = drops
        self.invalidDrops = invalidDrops
        self.raw = raw
    }

    /// How many events it has, including rejected ones.
    package var count: Int { events.count }

    package func install(of index: Int) -> UUID { sources[Int(events[index].source)].install }

    package func text(_ slice: TextSlice) -> String {
        String(decoding: texts[slice.range], as: UTF8.self)
    }

    /// The indexes of the events that are not rejected, in order.
    package var accepted: [Int] {
        if rejected.isEmpty { return Array(events.indices) }
        var next = 0
        return events.indices.filter { index in
            guard next < rejected.count, rejected[next].index == index else { return true }
            next += 1
            return false
        }
    }

    /// What is kept of a rejected event: its text in the body, without members of free text at any depth, cut to its
    /// bound between two characters.
    package func rawEvent(_ index: Int) -> String { String(decoding: raw.event(index), as: UTF8.self) }

    /// What is kept of the envelope's `source`, likewise; nil if there is none, or if it exceeds its bound.
    package var rawSource: String? { raw.source.map { String(decoding: $0, as: UTF8.self) } }
}

/// An event that was rejected before it reached the log.
package struct RejectedEvent: Sendable {
    /// Its place in the envelope.
    package let index: Int
    /// Id and install are given if they could be read; without its own install, an event has the envelope's.
    package let id: UUID?
    package let install: UUID?
    package let rejection: Rejection
    /// Its text in the body, cut to the bound.
    package let raw: String

    package init(index: Int, id: UUID?, install: UUID? = nil, rejection: Rejection, raw: String) {
        self.index = index
        self.id = id
        self.install = install
        self.rejection = rejection
        self.raw = raw
    }
}
