internal import Telemetry

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
