package import Postgres

/// Why a step could not be taken. Nothing of it was stored.
package enum StepError: Error, Sendable {
    case database(PostgresError)
    /// Somebody else moved the shards meanwhile.
    case overtaken
    /// The log did not hold what its batch says: (batch, found, expected).
    case wrongCount(batch: Int64, found: Int64, expected: Int64)
    /// A stored delivery does not read.
    case unreadableDelivery(String)

    /// The line is not what it was: it was given up, or has taken the place of the live one.
    case lineIsGone
    /// The fold of the line has stopped.
    case stopped
    /// A projector failed, and several batches may be why.
    case cannotTell(String)

    /// Whether the same step may succeed later without anybody changing anything.
    var isRetriable: Bool {
        switch self {
        case .database(let error): error.isRetriable
        case .overtaken: true
        case .wrongCount, .unreadableDelivery, .cannotTell, .lineIsGone, .stopped: false
        }
    }
}

extension StepError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .overtaken: "another runner was faster"
        case .wrongCount(let batch, let found, let expected):
            "batch \(batch) holds \(found) events where it says \(expected)"
        case .lineIsGone: "what was being built was given up, since history changed or another rebuild began"
        case .stopped: "the fold has stopped: see bellwether status"
        case .cannotTell(let reason): "a projection failed: \(reason)"
        case .unreadableDelivery(let name):
            "the stored delivery \(name) does not read: bellwether rebuild makes it anew"
        }
    }
}
