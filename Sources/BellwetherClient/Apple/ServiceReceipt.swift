#if canImport(UserNotifications) && !os(tvOS)
internal import Foundation
public import UserNotifications

extension Bellwether {
    /// A notification in a service extension, from its arrival until it is handed back to the system.
    ///
    /// Hand the content to ``deliver(_:)`` instead of the system's content handler, or give that function to whoever loads
    /// the media. It records that the notification arrived and what became of its media, and calls the system's handler.
    ///
    /// ```swift
    /// override func didReceive(
    ///     _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    /// ) {
    ///     let receipt = bellwether.receipt(of: request, contentHandler)
    ///     self.receipt = receipt
    ///     loadImage(of: request, completion: receipt.deliver)
    /// }
    ///
    /// override func serviceExtensionTimeWillExpire() { receipt?.timeWillExpire() }
    /// ```
    public final class ServiceReceipt: @unchecked Sendable {
        // Everything but the handler is immutable or guards itself; the handler is only touched under the lock, and
        // whoever takes it out has it alone.
        private let bellwether: Bellwether
        private let request: UNNotificationRequest
        private let watch: MediaWatch
        private let network: Media.Network?
        private let lock = NSLock()
        private var handler: ((UNNotificationContent) -> Void)?

        init(
            _ bellwether: Bellwether, _ request: UNNotificationRequest, network: Media.Network?,
            _ handler: @escaping (UNNotificationContent) -> Void
        ) {
            self.bellwether = bellwether
            self.request = request
            self.network = network
            self.handler = handler
            watch = MediaWatch(bellwether.push(of: request).media, startedAt: bellwether.clock.uptime())
        }

        /// Says what became of the media, where the library cannot see it: that the app skipped them on a cellular
        /// network, or fetched them for its content extension.
        ///
        /// ```swift
        /// receipt.tell(Bellwether.Media(.skipped, reason: .cellular))
        /// ```
        public func tell(_ media: Media) { watch.tell(media) }

        /// Records the receipt and hands the content to the system. Only the first call counts.
        public func deliver(_ content: UNNotificationContent) { finish(content, isOutOfTime: false) }

        /// Records the receipt and hands the content to the system: its time is over.
        ///
        /// - Parameter content: The best that there is; without it, the notification as it came.
        public func timeWillExpire(with content: UNNotificationContent? = nil) {
            finish(content ?? request.content, isOutOfTime: true)
        }

        private func finish(_ content: UNNotificationContent, isOutOfTime: Bool) {
            let attachments = content.attachments.map { MediaWatch.Attachment(type: $0.type, url: $0.url) }
            let now = bellwether.clock.uptime()
            guard let media = watch.conclude(attachments, isOutOfTime: isOutOfTime, network: network, at: now) else {
                return
            }
            // Before the system has its content: then it may suspend the process or end it, and one that is suspended
            // with the queue in hand is killed. That takes a millisecond; a second, and no more, where another process
            // holds the queue. The system warns some seconds before it gives up, so that this is also right when time
            // runs out; and what is lost even so, the app finds when it looks through the notification centre.
            bellwether.received(bellwether.push(of: request, shownAs: content), .serviceExtension(media: media))
            lock.lock()
            let handler = handler
            self.handler = nil
            lock.unlock()
            handler?(content)
        }
    }

    /// A notification has come to the service extension.
    ///
    /// - Parameters:
    ///   - request: The request, as the system gave it.
    ///   - network: Over which network media are loaded, if the extension knows.
    ///   - contentHandler: The system's handler, to which the content goes in the end.
    public func receipt(
        of request: UNNotificationRequest, network: Media.Network? = nil,
        _ contentHandler: @escaping (UNNotificationContent) -> Void
    ) -> ServiceReceipt {
        ServiceReceipt(self, request, network: network, contentHandler)
    }
}
#endif
