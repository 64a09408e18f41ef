internal import Telemetry
internal import Values

/// One event as a phone has written it down.
struct Record: Sendable {
    /// When, by the true time.
    let at: Timestamp
    let text: String
    /// What is wrong with it, when something is.
    let fault: RejectionReason?
    /// Whether the server has been told before.
    var isRepeated = false
}

/// What a client can get wrong about an event.
enum Fault {
    case brokenID
    case unknownType
    case brokenTime
    case noNotification
    /// `action.tapped` without saying which.
    case noButton
    case negativeSeq

    /// Those that any event can have.
    static let anywhere: [Fault] = [.brokenID, .unknownType, .brokenTime, .noNotification, .negativeSeq]

    /// What the server must say to it.
    var reason: RejectionReason {
        switch self {
        case .brokenID: .invalidID
        case .unknownType: .unknownType
        case .brokenTime: .invalidTime
        case .noNotification: .missingNotification
        case .noButton: .missingField
        case .negativeSeq: .invalidField
        }
    }
}
