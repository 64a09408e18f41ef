public import Foundation

extension Bellwether {
    /// Who made a notification: a push service, or the app itself.
    public enum Origin: String, Sendable {
        case remote
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
