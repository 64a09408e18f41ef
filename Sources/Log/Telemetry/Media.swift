/// What became of a notification's picture, film or sound.
package struct Media: Hashable, Sendable {
    package var kind: MediaKind?
    package var format: String?
    package var outcome: MediaOutcome?
    package var reason: MediaReason?
    package var bytes: Int64?
    /// Milliseconds that loading took.
    package var ms: Int32?
    package var network: MediaNetwork?

    package init(
        kind: MediaKind? = nil, format: String? = nil, outcome: MediaOutcome? = nil, reason: MediaReason? = nil,
        bytes: Int64? = nil, ms: Int32? = nil, network: MediaNetwork? = nil
    ) {
        self.kind = kind
        self.format = format
        self.outcome = outcome
        self.reason = reason
        self.bytes = bytes
        self.ms = ms
        self.network = network
    }
}

/// What sort of media a notification carries.
package enum MediaKind: Int16, WireEnum {
    case image = 1
    case video
    case audio
    case unknown

    package var wire: String {
        switch self {
        case .image: "image"
        case .video: "video"
        case .audio: "audio"
        case .unknown: "unknown"
        }
    }
}

/// How loading the media ended.
package enum MediaOutcome: Int16, WireEnum {
    case attached = 1
    case prefetched
    case timedOut
    case failed
    case skipped
    /// There was no media to load (`none`, which Swift keeps for optionals).
    case noMedia

    package var wire: String {
        switch self {
        case .attached: "attached"
        case .prefetched: "prefetched"
        case .timedOut: "timed_out"
        case .failed: "failed"
        case .skipped: "skipped"
        case .noMedia: "none"
        }
    }
}

/// Why the media was not attached.
package enum MediaReason: Int16, WireEnum {
    case cellular = 1
    case tooLarge
    case unsupportedType
    case insecureURL
    case network
    case invalid

    package var wire: String {
        switch self {
        case .cellular: "cellular"
        case .tooLarge: "too_large"
        case .unsupportedType: "unsupported_type"
        case .insecureURL: "insecure_url"
        case .network: "network"
        case .invalid: "invalid"
        }
    }
}

/// The network over which the media was loaded.
package enum MediaNetwork: Int16, WireEnum {
    case wifi = 1
    case cellular
    case other

    package var wire: String {
        switch self {
        case .wifi: "wifi"
        case .cellular: "cellular"
        case .other: "other"
        }
    }
}
