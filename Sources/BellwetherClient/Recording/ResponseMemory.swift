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

    /// A response of the system's, for as long as anybody else holds it: an address may be another's afterwards.
    private struct Reported {
        weak var object: AnyObject?
    }

    private static let limit = 256
    // A content extension that stays open can have its buttons tapped again; twice within a second is one finger.
    private static let again = 1.0
    private var known: [(response: Response, at: TimeInterval)] = []
    private var reported: [Reported] = []

    /// Whether it is new; from now on it is not.
    ///
    /// The system's own object says for sure whether two reports are of one response. Without it, an extension's are told
    /// apart by their time.
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

    /// It was not kept: when it is reported again, it is new.
    mutating func forget(_ response: Response, as object: AnyObject? = nil) {
        known.removeAll { $0.response == response }
        reported.removeAll { $0.object == nil || $0.object === object }
    }
}
