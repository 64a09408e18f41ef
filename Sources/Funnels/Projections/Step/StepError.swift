package import Postgres

/// Why a step failed. It stored nothing.
package enum StepError: Error, Sendable {
    case database(PostgresError)
    /// The cells of this projector could not be written.
    case projector(String, PostgresError)
    /// Another process has moved the shards.
    case overtaken
    /// The log did not have as many events in a shard as its batch says.
    case wrongCount(batch: Int64, shard: Int16, found: Int32, expected: Int32)
    /// A stored delivery cannot be read.
    case unreadableDelivery(String)

    /// The generation was given up, or became the live one.
    case generationIsGone
    /// The fold of the generation has stopped.
    case stopped
    /// Something failed for good, and any of several batches may be the reason.
    case cannotTell(batches: Int32, String)
    /// The work was cancelled. The last step before that is complete.
    case cancelled
    /// A projection's tables are newer than this program, or unknown to it.
    case tooNew(String, version: Int32)

    /// Whether the same step may succeed later without a change.
    var isRetriable: Bool {
        switch self {
        case .database(let error), .projector(_, let error): error.isRetriable
        case .overtaken: true
        case .wrongCount, .unreadableDelivery, .cannotTell, .generationIsGone, .stopped, .cancelled,
            .tooNew:
            false
        }
    }

    /// Whether a projection, or the log itself, may be the reason: then it makes sense to find out which, and where.
    var blamesProjection: Bool {
        switch self {
        case .database(let error), .projector(_, let error): !error.isRetriable
        case .wrongCount, .unreadableDelivery: true
        case .overtaken, .cannotTell, .generationIsGone, .stopped, .cancelled, .tooNew: false
        }
    }

    /// Whether it took too long: a smaller step may succeed.
    var isTooSlow: Bool {
        switch self {
        case .database(let error), .projector(_, let error):
            if case .timedOut = error { true } else { error.state == .queryCanceled }
        default: false
        }
    }
}

extension StepError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error), .projector(_, let error): "\(error)"
        case .overtaken: "another runner moved the shard first"
        case .wrongCount(let batch, let shard, let found, let expected):
            "batch \(batch) has \(found) events in shard \(shard), but should have \(expected)"
        case .generationIsGone:
            "what was being built has been discarded, because the log's history changed or another rebuild began"
        case .cancelled: "it was interrupted; run it again to continue"
        case .stopped: "the fold has stopped: see bellwether status"
        case .cannotTell(_, let reason): "a projection failed: \(reason)"
        case .tooNew(let name, let version):
            "the tables of \(name) are of version \(version), which this program does not know: use a newer bellwether"
        case .unreadableDelivery(let name):
            "the stored delivery \(name) cannot be read: bellwether rebuild creates it again"
        }
    }
}

extension StepError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }
}

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    mutating func atomically<Result>(
        _ body: (inout Connection) throws -> Result
    ) throws(StepError) -> Result {
        do {
            return try transaction(failingWith: StepError.self) { connection throws(StepError) in
                do { return try body(&connection) } catch { throw StepError(error) }
            }
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .body(let error): throw error
            }
        }
    }
}

extension StepError {
    /// Wraps PostgreSQL's errors, and keeps our own as they are.
    init(_ error: any Error) {
        switch error {
        case let error as StepError: self = error
        case let error as PostgresError: self = .database(error)
        default: self = .database(.decoding("\(error)"))
        }
    }
}
