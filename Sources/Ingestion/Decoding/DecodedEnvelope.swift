package import Telemetry
package import Values

/// What one request carried, each event valid or refused by itself.
package struct DecodedEnvelope: Sendable {
    /// When the client's clock says the envelope was sent; nil when absent or unreadable.
    package let sentAt: Timestamp?
    /// The install that the envelope's own `source` names; events may name others.
    package let installID: UUID?
    /// A result for each event, in the order of the envelope.
    package let items: [Item]
    /// What the client says that it threw away.
    package let drops: [ClientDrop]
    /// A sentence for each entry of `dropped` that could not be read.
    package let invalidDrops: [String]
    let raw: RawEnvelope

    /// One event of the envelope.
    package enum Item: Sendable {
        case event(Event)
        /// Id and install are given when they could be read.
        case rejected(id: UUID?, install: UUID?, Rejection)
    }

    /// What is kept of an event that is rejected: how it stands in the body, without members of free text at any depth,
    /// cut to its bound between two characters.
    package func rawEvent(_ index: Int) -> ArraySlice<UInt8> { raw.event(index) }

    /// What is kept of the envelope's `source` likewise; nil when there is none, or when it is over its bound.
    package var rawSource: [UInt8]? { raw.source }
}
