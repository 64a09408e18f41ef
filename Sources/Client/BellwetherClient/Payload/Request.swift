public import Foundation

extension Bellwether {
    /// Who made a notification: a push service, or the app itself.
    public enum Origin: String, Sendable {
        /// A push service.
        case remote
        /// The app itself.
        case local
    }

    /// What the system knows about a notification besides its payload. Give what you have; every part is optional.
    public struct Request: Sendable, Hashable {
        /// The request's identifier.
        public var identifier: String?
        /// The category as shown, which a service extension may have changed. Default: `aps.category`.
        public var category: String?
        /// The thread as shown. Default: `aps.thread-id`.
        public var thread: String?
        /// Who made it. Default: a push service, if the payload has an `aps`.
        public var origin: Origin?
        /// When the system delivered it.
        public var deliveredAt: Date?
        /// Whether it has text to show. Default: what `aps.alert` says.
        public var showsText: Bool?
        /// `passive`, `active`, `time-sensitive` or `critical`. Default: `aps.interruption-level`.
        public var interruptionLevel: String?
        /// How relevant the app calls it, from 0 to 1. Default: `aps.relevance-score`.
        public var relevanceScore: Double?
        /// Which window of the app it belongs to. Default: `aps.target-content-id`.
        public var targetContentID: String?
        /// The name that stands for it in the summary of its thread. Default: `aps.alert.summary-arg`.
        public var summaryArgument: String?
        /// For how many items it counts there. Default: `aps.alert.summary-arg-count`.
        public var summaryArgumentCount: Int?

        /// Creates a description of a request.
        public init(
            identifier: String? = nil, category: String? = nil, thread: String? = nil, origin: Origin? = nil,
            deliveredAt: Date? = nil, showsText: Bool? = nil
        ) {
            self.identifier = identifier
            self.category = category
            self.thread = thread
            self.origin = origin
            self.deliveredAt = deliveredAt
            self.showsText = showsText
        }
    }
}

extension Bellwether.Request {
    /// The name of a level that the system gives as a number; nil for one that is not known.
    static func interruptionLevel(rawValue: Int) -> String? {
        let names = ["passive", "active", "time-sensitive", "critical"]
        return names.indices.contains(rawValue) ? names[rawValue] : nil
    }
}
