internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A notification in the service extension, from its arrival until the system has its content.
///
/// The system may end the process as soon as it has the content. So the receipt is recorded and sent at once, while the
/// media load. What became of the media is known only at the end: it is a second receipt of the same delivery, which
/// counts once.
final class Arrival: Sendable {
    private let bellwether: Bellwether
    private let watch: MediaWatch

    /// Records that it arrived, and begins to send that. Returns at once.
    init(_ push: Bellwether.Push, in bellwether: Bellwether) {
        self.bellwether = bellwether
        watch = MediaWatch(push.media, startedAt: bellwether.clock.uptime(), rules: bellwether.mediaRules)
        bellwether.received(push, .serviceExtension())
        bellwether.flushInExtension()
        askForSize()
    }

    /// What the app says of the media itself.
    func tell(_ media: Bellwether.Media) { watch.tell(media) }

    /// Records what became of the media, if there are any, before the system gets the content.
    ///
    /// - Returns: False after the first call: then there is nothing more to do.
    func conclude(
        _ push: @autoclosure () -> Bellwether.Push, _ attachments: [MediaWatch.Attachment], isOutOfTime: Bool,
        network: Bellwether.Media.Network?
    ) -> Bool {
        let media = watch.conclude(
            attachments, isOutOfTime: isOutOfTime, network: network, at: bellwether.clock.uptime())
        guard let media else { return false }
        // No outcome at all says as much as that there was nothing to load, and costs no event.
        if media.outcome != .none { bellwether.received(push(), .serviceExtension(media: media)) }
        return true
    }

    /// Asks for the size of the media, where a rule needs it, while the app loads them.
    private func askForSize() {
        guard bellwether.isRecording, let address = watch.sizeAddress else { return }
        let (watch, size) = (watch, bellwether.mediaSize)
        Task { if let bytes = await size(address) { watch.tell(bytes: bytes) } }
    }
}

/// Asks the server of a picture or a film how large it is, without loading it.
enum MediaSize {
    static let system: @Sendable (URL) async -> Int? = { address in
        var request = URLRequest(url: address, timeoutInterval: 5)
        request.httpMethod = "HEAD"
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForResource = 5
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        guard let (_, response) = try? await session.data(for: request),
            let answer = response as? HTTPURLResponse, answer.statusCode == 200, answer.expectedContentLength >= 0
        else { return nil }
        return Int(clamping: answer.expectedContentLength)
    }
}
