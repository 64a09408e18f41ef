internal import Foundation

/// The responses that this process has reported. If two libraries call an app's delegate, the app reports a response
/// twice.
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

    /// The system's response object. The reference is weak, because an address alone may later belong to another
    /// object.
    private struct Reported {
        weak var object: AnyObject?
    }

    private static let limit = 256
    // The buttons of an open content extension can be tapped again, but two responses within a second are the same tap.
    private static let again = 1.0
    private var known: [(response: Response, at: TimeInterval)] = []
    private var reported: [Reported] = []

    /// Whether the response is new. The memory then knows it.
    ///
    /// The system's own object shows for certain whether two reports are about the same response. Without it, responses
    /// in an extension are distinguished by time.
    mutating func isNew(_ response: Response, as object: AnyObject? = nil, at now: TimeInterval) -> Bool {
        if let object, !isNew(object) { return false }
        let earlier = known.firstIndex { $0.response == response }
        if let earlier {
            let isAgain = now - known[earlier].at < ResponseMemory.again
            if response.handler == .app || object == nil && isAgain { return false }
        }
        if let earlier { known.remove(at: earlier) }
        if known.count == ResponseMemory.limit { known.removeFirst() }
        known.append((response, now))
        return true
    }

    private mutating func isNew(_ object: AnyObject) -> Bool {
        reported.removeAll { $0.object == nil }
        guard !reported.contains(where: { $0.object === object }) else { return false }
        if reported.count == ResponseMemory.limit { reported.removeFirst() }
        reported.append(Reported(object: object))
        return true
    }

    /// Forgets a response that was not stored. If it is reported again, it is new.
    mutating func forget(_ response: Response, as object: AnyObject? = nil) {
        known.removeAll { $0.response == response }
        reported.removeAll { $0.object == nil || $0.object === object }
    }
}
