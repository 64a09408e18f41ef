extension Bellwether {
    /// Which media a service extension leaves out on purpose. The library sees only that nothing is attached; the rules
    /// tell why, so that it does not count as a failure.
    public struct MediaRules: Sendable, Hashable {
        /// The kinds that are loaded over Wi-Fi only.
        public var onlyOverWiFi: Set<Media.Kind> = []
        /// The formats that are taken, as the file name ends, in lower case. Empty is any.
        public var formats: Set<String> = []
        /// The most bytes that a picture may have.
        public var maximumImageBytes: Int?
        /// The most bytes that a film may have.
        public var maximumVideoBytes: Int?

        /// Creates rules that leave out nothing.
        public init() {}

        /// What Hive's service extension does: films and sounds over Wi-Fi only; pictures up to 10 MB, films up to 50
        /// MB; JPG, JPEG, PNG, GIF, MP4 and AVI.
        public static let hive: MediaRules = {
            var rules = MediaRules()
            rules.onlyOverWiFi = [.video, .audio]
            rules.formats = ["jpg", "jpeg", "png", "gif", "mp4", "avi"]
            rules.maximumImageBytes = 10_000_000
            rules.maximumVideoBytes = 50_000_000
            return rules
        }()
    }
}

extension Bellwether.MediaRules {
    /// Whether the size of such media decides.
    func limit(of kind: Bellwether.Media.Kind) -> Int? {
        switch kind {
        case .image: maximumImageBytes
        case .video: maximumVideoBytes
        case .audio, .unknown: nil
        }
    }

    /// What became of media that are not attached, by the rules; nil if no rule leaves them out.
    ///
    /// - Parameters:
    ///   - network: The network over which they would be loaded; nil if it is not known.
    ///   - bytes: How large they are; nil if it is not known.
    func outcome(
        _ format: MediaFormat, network: Bellwether.Media.Network?, bytes: Int?
    ) -> (outcome: Bellwether.Media.Outcome, reason: Bellwether.Media.Reason)? {
        if onlyOverWiFi.contains(format.kind), let network, network != .wifi { return (.skipped, .cellular) }
        if !formats.isEmpty, let name = format.name, !formats.contains(name) { return (.failed, .unsupportedType) }
        if let bytes, let limit = limit(of: format.kind), bytes > limit { return (.failed, .tooLarge) }
        return nil
    }
}
