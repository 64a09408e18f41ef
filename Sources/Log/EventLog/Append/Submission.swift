package import Envelopes
package import Telemetry
internal import Values

/// What one request, or one writer's part of it, wants to store.
package struct Submission: Sendable {
    package let app: Int32
    package let key: Int32
    package let envelope: DecodedEnvelope
    /// The indexes in the envelope of the events to store, in order.
    package let indexes: [Int]
    /// Whether it also has the rejected events and the reports of dropped ones. Exactly one part of a request does.
    package let tellsRest: Bool

    /// Takes all events of an envelope unless `indexes` names some.
    package init(app: Int32, key: Int32, envelope: DecodedEnvelope, indexes: [Int]? = nil, tellsRest: Bool = true) {
        self.app = app
        self.key = key
        self.envelope = envelope
        self.indexes = indexes ?? envelope.accepted
        self.tellsRest = tellsRest
    }

    package var rejected: [RejectedEvent] { tellsRest ? envelope.rejected : [] }
    package var drops: [ClientDrop] { tellsRest ? envelope.drops : [] }
    /// How many rows it may cause, rejected events and reports included.
    package var rows: Int { indexes.count + rejected.count + drops.count }
}

package enum Verdict: Sendable, Equatable {
    case accepted
    case duplicate
    case rejected(Rejection)
}

/// What became of a submission.
package enum Settlement: Sendable {
    case settled(Verdicts)
    /// Its key is closed. Nothing more of it is stored.
    case keyClosed
    /// It has an install whose events another cell takes. Nothing more of it is stored.
    case elsewhere
}

/// What became of the events of a submission.
package struct Verdicts: Sendable {
    /// How many events there are.
    package let count: Int
    /// The verdicts other than accepted, by index in the envelope, in order.
    package let exceptions: [(index: Int, verdict: Verdict)]

    /// One for each event that was submitted, in order.
    package func each(of submission: Submission) -> [Verdict] {
        var rest = exceptions[...]
        return submission.indexes.map { index in
            rest.first?.index == index ? rest.removeFirst().verdict : .accepted
        }
    }
}
