extension Bellwether {
    /// What became of a notification's picture, video or sound.
    public struct Media: Sendable, Hashable {
        /// What sort of media it is.
        public enum Kind: String, Sendable {
            /// A picture.
            case image
            /// A film.
            case video
            /// A sound.
            case audio
            /// Nobody can tell.
            case unknown
        }

        /// How loading it ended.
        public enum Outcome: String, Sendable {
            /// It is attached to the notification.
            case attached
            /// It was fetched for later, for example a story's first page for the content extension.
            case prefetched
            /// The extension's time ran out before it was loaded.
            case timedOut = "timed_out"
            /// It could not be loaded.
            case failed
            /// The app chose not to load it.
            case skipped
            /// There was none to load.
            case none
        }

        /// Why it is not attached to the notification.
        public enum Reason: String, Sendable {
            /// The app does not load it over this network.
            case cellular
            /// It is larger than the app or the system takes.
            case tooLarge = "too_large"
            /// Its format is none that the app or the system takes.
            case unsupportedType = "unsupported_type"
            /// Its address is `http`.
            case insecureURL = "insecure_url"
            /// The network or its server failed.
            case network
            /// Its address or its content cannot be read.
            case invalid
        }

        /// The network over which it was loaded.
        public enum Network: String, Sendable {
            /// Wi-Fi.
            case wifi
            /// Mobile data.
            case cellular
            /// Another one, such as a cable.
            case other
        }

        /// What sort of media it is.
        public var kind: Kind?
        /// Its format, such as `jpg`.
        public var format: String?
        /// How loading it ended.
        public var outcome: Outcome
        /// Why it is not attached.
        public var reason: Reason?
        /// How large it is.
        public var bytes: Int?
        /// How many milliseconds loading it took.
        public var milliseconds: Int?
        /// The network over which it was loaded.
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
    /// Reads the words of the event catalogue; nil if one of them is none.
    init?(outcome: String, kind: String?, reason: String?) {
        guard let outcome = Outcome(rawValue: outcome) else { return nil }
        let (known, why) = (kind.map(Kind.init), reason.map(Reason.init))
        if case .some(.none) = known { return nil }
        if case .some(.none) = why { return nil }
        self.init(outcome, kind: known ?? nil, reason: why ?? nil)
    }

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
