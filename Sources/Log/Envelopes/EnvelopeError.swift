import Telemetry

/// Why nothing of a body could be read. Its events are neither stored nor rejected: the whole request fails.
package enum EnvelopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not well-formed UTF-8 JSON; the clause says what and where.
    case notJSON(String)
    /// JSON, but not an object.
    case notAnObject
    /// A batch of CloudEvents that is not an array.
    case notAnArray
    /// There is no `events` array.
    case noEvents
    /// `source` is there and is not an object.
    case sourceNotObject
    /// More events than an envelope may hold.
    case tooManyEvents(Int)
    /// More bytes than an envelope may have after unpacking.
    case tooLarge(Int)

    package var description: String {
        switch self {
        case .notJSON(let reason): "the body is not JSON: \(reason)"
        case .notAnObject: "the body must be a JSON object with an array `events`"
        case .notAnArray: "the body must be a JSON array of CloudEvents"
        case .noEvents: "events: this array is required"
        case .sourceNotObject: "source: must be an object"
        case .tooManyEvents(let count):
            "events: an envelope may have at most \(Bounds.events), not \(count); send them in smaller envelopes"
        case .tooLarge(let count):
            "the body has \(count) bytes, at most \(Bounds.unpackedBody) are allowed; "
                + "send the events in smaller envelopes"
        }
    }
}
