internal import Foundation

/// The address of a push's picture, video or sound, as far as it matters.
enum MediaAddress: Sendable, Hashable {
    /// The payload has no address.
    case none
    /// The address is unusable for a request.
    case invalid
    case url(URL)

    init(_ text: String?) {
        guard let text, !text.isEmpty else {
            self = .none
            return
        }
        guard let url = URL(string: text), url.scheme != nil else {
            self = .invalid
            return
        }
        self = .url(url)
    }
}

/// Watches a notification's media in a service extension, and infers from the final attachments what became of them.
final class MediaWatch: Sendable {
    /// An attachment of the notification as it is handed to the system.
    struct Attachment: Sendable {
        /// Its uniform type identifier.
        let type: String?
        let url: URL?
        let bytes: Int?

        init(type: String?, url: URL?, bytes: Int?) {
            self.type = type
            self.url = url
            self.bytes = bytes
        }

        /// An attachment with a file. Its size is nil if it is unreadable.
        init(type: String, url: URL) {
            let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
            self.init(type: type, url: url, bytes: size?.intValue)
        }
    }

    private struct State {
        var told: Bellwether.Media?
        var isConcluded = false
        /// What the server of the media says of their size.
        var bytes: Int?
    }

    private let address: MediaAddress
    private let startedAt: TimeInterval
    private let rules: Bellwether.MediaRules
    private let state = Guarded(State())

    init(_ address: MediaAddress, startedAt: TimeInterval, rules: Bellwether.MediaRules = .init()) {
        self.address = address
        self.rules = rules
        self.startedAt = startedAt
    }

    /// Sets the outcome that the app reports itself: it skipped the media on an expensive network, or fetched them for
    /// later.
    func tell(_ media: Bellwether.Media) { state.withLock { $0.told = media } }

    /// Where to ask for the size of the media; nil if no rule needs it.
    var sizeAddress: URL? {
        guard case .url(let url) = address, ["https", "http"].contains(url.scheme?.lowercased()),
            rules.limit(of: MediaFormat(url: url, type: nil).kind) != nil
        else { return nil }
        return url
    }

    /// Sets the size of the media, as their server says it.
    func tell(bytes: Int) { state.withLock { $0.bytes = bytes } }

    /// What became of the media. Only the first call returns it; later calls return nil.
    func conclude(
        _ attachments: [Attachment], isOutOfTime: Bool, network: Bellwether.Media.Network?, at now: TimeInterval
    ) -> Bellwether.Media? {
        let (isFirst, told, bytes) = state.withLock { state in
            defer { state.isConcluded = true }
            return (!state.isConcluded, state.told, state.bytes)
        }
        guard isFirst else { return nil }
        var media = told ?? outcome(attachments, isOutOfTime: isOutOfTime, network: network, bytes: bytes)
        if media.outcome != .none {
            media.network = media.network ?? network
            media.milliseconds = media.milliseconds ?? Int(min(max((now - startedAt) * 1000, 0), 86_400_000).rounded())
        }
        return media
    }

    private func outcome(
        _ attachments: [Attachment], isOutOfTime: Bool, network: Bellwether.Media.Network?, bytes: Int?
    ) -> Bellwether.Media {
        if let attachment = attachments.first {
            let format = MediaFormat(url: attachment.url, type: attachment.type)
            return Bellwether.Media(.attached, kind: format.kind, format: format.name, bytes: attachment.bytes)
        }
        switch address {
        case .none: return Bellwether.Media(.none)
        case .invalid: return Bellwether.Media(.failed, kind: .unknown, reason: .invalid)
        case .url(let url):
            let format = MediaFormat(url: url, type: nil)
            if !isOutOfTime, let (outcome, reason) = rules.outcome(format, network: network, bytes: bytes) {
                return Bellwether.Media(outcome, kind: format.kind, format: format.name, reason: reason, bytes: bytes)
            }
            let isInsecure = url.scheme?.lowercased() == "http"
            return Bellwether.Media(
                isOutOfTime ? .timedOut : .failed, kind: format.kind, format: format.name,
                reason: isInsecure && !isOutOfTime ? .insecureURL : nil)
        }
    }
}

/// The format of media, inferred from a file name and a uniform type identifier.
struct MediaFormat {
    let name: String?
    let kind: Bellwether.Media.Kind

    private static let kinds: [Bellwether.Media.Kind: Set<String>] = [
        .image: ["jpg", "jpeg", "png", "gif", "heic", "heif", "webp", "bmp", "tiff"],
        .video: ["mp4", "m4v", "mov", "mpg", "mpeg", "mpeg2", "avi"],
        .audio: ["mp3", "m4a", "wav", "aif", "aiff", "aac", "caf"],
    ]
    private static let wordsOfTypes: [(String, Bellwether.Media.Kind)] = [
        ("mp3", .audio), ("audio", .audio), ("aiff", .audio), ("wav", .audio), ("mpeg-4", .video), ("movie", .video),
        ("mpeg", .video), ("avi", .video), ("video", .video), ("image", .image), ("jpeg", .image), ("png", .image),
        ("gif", .image), ("heic", .image), ("webp", .image), ("tiff", .image),
    ]

    init(url: URL?, type: String?) {
        let suffix = url?.pathExtension.lowercased() ?? ""
        name = suffix.isEmpty || suffix.utf8.count > 16 ? nil : suffix
        let typed = type.flatMap { type in MediaFormat.wordsOfTypes.first { type.lowercased().contains($0.0) }?.1 }
        kind = typed ?? MediaFormat.kinds.first { $0.value.contains(suffix) }?.key ?? .unknown
    }
}
