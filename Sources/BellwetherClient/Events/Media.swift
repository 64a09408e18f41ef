extension Bellwether {
    /// What became of a notification's picture, video or sound.
    public struct Media: Sendable, Hashable {
        /// What sort of media it is.
        public enum Kind: String, Sendable {
            case image, video, audio, unknown
        }

        /// How loading it ended.
        public enum Outcome: String, Sendable {
            /// It is attached to the notification.
            case attached
            /// It was fetched for later, for example a story's first page for the content extension.
            case prefetched
            case timedOut = "timed_out"
            case failed
            /// The app chose not to load it.
            case skipped
            /// There was none to load.
            case none
        }

        /// Why it is not attached to the notification.
        public enum Reason: String, Sendable {
            case cellular
            case tooLarge = "too_large"
            case unsupportedType = "unsupported_type"
            case insecureURL = "insecure_url"
            case network, invalid
        }

        /// The network over which it was loaded.
        public enum Network: String, Sendable {
            case wifi, cellular, other
        }

        public var kind: Kind?
        /// Its format, such as `jpg`.
        public var format: String?
        public var outcome: Outcome
        public var reason: Reason?
        /// How large it is.
        public var bytes: Int?
        /// How many milliseconds loading it took.
        public var milliseconds: Int?
        public var network: Network?

        /// Creates a description of what became of it.
        public init(
            _ outcome: Outcome, kind: Kind? = nil, format: String? = nil, reason: Reason? = nil, bytes: Int? = nil,
            milliseconds: Int? = nil, network: Network? = nil
        ) {
            self.kind = kind
            self.format = format
            self.outcome = outcome
            self.reason = reason
            self.bytes = bytes
            self.milliseconds = milliseconds
            self.network = network
        }
    }
}

extension Bellwether.Media {
    /// The member `media` of an event.
    var value: JSONValue {
        var fields: [JSONValue.Field] = []
        fields.add("kind", kind?.rawValue)
        fields.add("format", format?.fitting(Bounds.string))
        fields.add("outcome", outcome.rawValue)
        fields.add("reason", reason?.rawValue)
        fields.add("bytes", bytes.map { max(0, $0) })
        fields.add(
            "ms",
            milliseconds.map { min(max($0, Bounds.mediaMilliseconds.lowerBound), Bounds.mediaMilliseconds.upperBound) })
        fields.add("network", network?.rawValue)
        return .object(fields)
    }
}

extension Bellwether.Media.Network {
    /// The network of a path; nil without a connection.
    init?(isConnected: Bool, usesWiFi: Bool, usesCellular: Bool) {
        guard isConnected else { return nil }
        self = usesCellular ? .cellular : usesWiFi ? .wifi : .other
    }
}
