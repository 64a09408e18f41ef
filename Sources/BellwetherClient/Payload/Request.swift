public import Foundation

extension Bellwether {
    /// Who made a notification: a push service, or the app itself.
    public enum Origin: String, Sendable {
        case remote
        case local
    }

    /// What the system knows of a notification beside its payload. Give what you have; every part may be absent.
    public struct Request: Sendable, Hashable {
        /// The request's identifier.
        public var identifier: String?
        /// The category as it is shown, which a service extension may have changed. Else: `aps.category`.
        public var category: String?
        /// The thread as it is shown. Else: `aps.thread-id`.
        public var thread: String?
        /// Who made it. Else: a push service, where the payload has an `aps`.
        public var origin: Origin?
        /// When the system delivered it.
        public var deliveredAt: Date?
        /// Whether it has a text to show. Else: what `aps.alert` says.
        public var showsText: Bool?

        /// Describes a request.
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
