internal import Telemetry

/// Why nothing of a body could be read. Its sends are neither stored nor rejected: the whole request fails.
package enum SendsFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not well-formed UTF-8 JSON; the clause says what and where.
    case notJSON(String)
    case notAnObject
    /// There is no `sends` array.
    case noSends
    case tooManySends(Int)
    /// More bytes than an envelope may have after unpacking.
    case tooLarge(Int)

    package var description: String {
        switch self {
        case .notJSON(let reason): "it is not JSON: \(reason)"
        case .notAnObject: "it must be a JSON object with an array `sends`"
        case .noSends: "sends: this array is required"
        case .tooManySends(let count):
            "sends: an envelope may have at most \(SendBounds.sends), not \(count); send them in smaller envelopes"
        case .tooLarge(let count):
            "it has \(count) bytes, at most \(Bounds.unpackedBody) are allowed; send it in smaller envelopes"
        }
    }
}
