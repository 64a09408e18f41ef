#if canImport(UserNotifications) && !os(tvOS)
internal import Foundation
internal import Network
public import UserNotifications

extension Bellwether {
    /// A notification in a service extension, from its arrival until the extension returns it to the system.
    ///
    /// Creating it records that the notification arrived, and sends that while the media load. Pass the content to
    /// ``deliver(_:)`` instead of the system's content handler, or pass that function to the code that loads the media.
    /// It records what became of them, and calls the system's handler.
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
        // Everything except the handler is immutable or has its own lock. The handler is only touched under the lock,
        // and the thread that takes it out is its only owner.
        private let bellwether: Bellwether
        private let request: UNNotificationRequest
        private let arrival: Arrival
        private let network: Media.Network?
        private let networkWatch = NetworkWatch()
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
            arrival = Arrival(bellwether.push(of: request), in: bellwether)
        }

        /// Reports what became of the media when the library cannot see it: the app skipped the media on a cellular
        /// network, or fetched them for its content extension.
        ///
        /// ```swift
        /// receipt.tell(Bellwether.Media(.skipped, reason: .cellular))
        /// ```
        public func tell(_ media: Media) { arrival.tell(media) }

        /// Records what became of the media and hands the content to the system. Only the first call counts.
        ///
        /// - Parameter content: The content; nil, as some libraries have it, is the notification as it came.
        @Sendable public func deliver(_ content: UNNotificationContent?) {
            finish(content ?? request.content, isOutOfTime: false)
        }

        /// Does the same when the extension's time has run out.
        ///
        /// - content: The best content available. If you leave it out, the system gets the notification as it came.
        public func timeWillExpire(with content: UNNotificationContent? = nil) {
            finish(content ?? request.content, isOutOfTime: true)
        }

        private func finish(_ content: UNNotificationContent, isOutOfTime: Bool) {
            let attachments = content.attachments.map { MediaWatch.Attachment(type: $0.type, url: $0.url) }
            // Record before the system gets its content: after that it may suspend or end the process, and it kills a
            // process that is suspended while it holds the queue. Recording takes a millisecond, and at most a second
            // if another process holds the queue. This also works when time runs out, because the system warns some
            // seconds before it gives up.
            guard
                arrival.conclude(
                    bellwether.push(of: request, shownAs: content), attachments, isOutOfTime: isOutOfTime,
                    network: network ?? networkWatch.network)
            else { return }
            lock.lock()
            let handler = handler
            self.handler = nil
            lock.unlock()
            handler?(content)
            if !isOutOfTime { bellwether.flushInExtension() }
        }
    }

    /// Starts the receipt of a notification in the service extension.
    ///
    /// - Parameters:
    ///   - request: The request, as the system gave it.
    ///   - network: The network over which media are loaded. If you leave it out, the library asks the system.
    ///   - contentHandler: The system's handler, which gets the content at the end.
    public func receipt(
        of request: UNNotificationRequest, network: Media.Network? = nil,
        _ contentHandler: @escaping (UNNotificationContent) -> Void
    ) -> ServiceReceipt {
        ServiceReceipt(self, request, network: network, contentHandler)
    }
}

/// Which network the device uses, over which a receipt's media are loaded. The system tells so some milliseconds after
/// this begins.
final class NetworkWatch: Sendable {
    /// Guarded, as the system's class is Sendable only from iOS 17 on.
    private let monitor = Guarded(NWPathMonitor())

    init() { monitor.withLock { $0.start(queue: .global(qos: .utility)) } }

    deinit { monitor.withLock { $0.cancel() } }

    /// Nil while it is not known, and without a network.
    var network: Bellwether.Media.Network? {
        let path = monitor.withLock { $0.currentPath }
        return Bellwether.Media.Network(
            isConnected: path.status == .satisfied, usesWiFi: path.usesInterfaceType(.wifi),
            usesCellular: path.usesInterfaceType(.cellular))
    }
}
#endif
