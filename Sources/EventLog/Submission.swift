package import Envelopes
package import Telemetry
internal import Values

/// What one request, or the part of it that belongs to one writer, wants stored.
package struct Submission: Sendable {
    package let app: Int32
    package let key: Int32
    package let envelope: DecodedEnvelope
    /// The events to be stored, by their index in the envelope, in order.
    package let indexes: [Int]
    /// Whether it also tells of what was rejected and what the client dropped: one part of a request does.
    package let tellsRest: Bool

    /// All of an envelope, unless only some of its events are meant.
    package init(app: Int32, key: Int32, envelope: DecodedEnvelope, indexes: [Int]? = nil, tellsRest: Bool = true) {
        self.app = app
        self.key = key
        self.envelope = envelope
        self.indexes = indexes ?? envelope.accepted
        self.tellsRest = tellsRest
    }

    package var rejected: [RejectedEvent] { tellsRest ? envelope.rejected : [] }
    package var drops: [ClientDrop] { tellsRest ? envelope.drops : [] }
    /// What it brings, not only what is stored.
    package var rows: Int { indexes.count + rejected.count + drops.count }
}

/// What became of one event.
package enum Verdict: Sendable, Equatable {
    case accepted
    case duplicate
    case rejected(Rejection)
}

/// What became of the events of a submission.
package struct Verdicts: Sendable {
    /// How many events they are of.
    package let count: Int
    /// What was not accepted, by index in the envelope, in order.
    package let exceptions: [(index: Int, verdict: Verdict)]

    /// One for each event that was submitted, in order.
    package func each(of submission: Submission) -> [Verdict] {
        var rest = exceptions[...]
        return submission.indexes.map { index in
            rest.first?.index == index ? rest.removeFirst().verdict : .accepted
        }
    }
}
