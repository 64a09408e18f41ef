internal import Foundation

/// The responses that this process has reported: an app whose delegate is called by two libraries reports one twice.
struct ResponseMemory {
    struct Response: Hashable {
        let notification: String?
        let deliveredAt: Date?
        let action: String
        let handler: Bellwether.Handler

        init(_ push: Bellwether.Push, action: String, handler: Bellwether.Handler) {
            notification = push.key
            deliveredAt = push.deliveredAt
            self.action = action
            self.handler = handler
        }
    }

    private static let limit = 256
    // A content extension that stays open can have its buttons tapped again; twice within a second is one finger.
    private static let again = 1.0
    private var known: [(response: Response, at: TimeInterval)] = []

    /// Whether it is new; from now on it is not.
    mutating func isNew(_ response: Response, at now: TimeInterval) -> Bool {
        let earlier = known.firstIndex { $0.response == response }
        if let earlier, response.handler == .app || now - known[earlier].at < ResponseMemory.again { return false }
        if let earlier { known.remove(at: earlier) }
        if known.count == ResponseMemory.limit { known.removeFirst() }
        known.append((response, now))
        return true
    }
}
