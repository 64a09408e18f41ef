internal import Telemetry
internal import Values

/// One event as a phone recorded it.
struct Record: Sendable {
    /// The true time of the event.
    let at: Timestamp
    let text: String
    /// What is wrong with it, if anything.
    let fault: RejectionReason?
    /// Whether the server already has it.
    var isRepeated = false
}

/// A mistake that a client can make in an event.
enum Fault {
    case brokenID
    case unknownType
    case brokenTime
    case noNotification
    /// `action.tapped` without the button.
    case noButton
    case negativeSeq

    /// The mistakes that are possible in any event.
    static let anywhere: [Fault] = [.brokenID, .unknownType, .brokenTime, .noNotification, .negativeSeq]

    /// The reason that the server must give.
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
