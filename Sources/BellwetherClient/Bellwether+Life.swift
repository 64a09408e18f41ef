public import Foundation

extension Bellwether {
    /// A library that is ready for use. It neither throws nor waits for anything: what is not well is told by
    /// ``diagnostics``.
    ///
    /// ```swift
    /// let bellwether = Bellwether(
    ///     Bellwether.Configuration(server: address, writeKey: "…", directory: directory))
    /// ```
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, transport: URLSessionTransport(), clock: .system)
    }

    convenience init(_ configuration: Configuration, transport: any Transport, clock: DeviceClock) {
        let reports = Diagnostics()
        let limits = Queue.Limits(mostBytes: configuration.mostBytes, mostDays: configuration.mostDays)
        let queue = Queue(
            directory: configuration.directory, limits: limits, diagnostics: reports, clock: clock.wall,
            patience: configuration.patience)
        let courier = Courier(
            queue: queue, transport: transport,
            destination: Courier.Destination(server: configuration.server, key: configuration.writeKey), clock: clock,
            backoff: Backoff(base: configuration.backoff.first, longest: configuration.backoff.longest),
            diagnostics: reports)
        let deliversByItself = configuration.deliversByItself ?? !Device.isExtension
        let source = Guarded(Source(appVersion: configuration.appVersion ?? Device.bundleVersion))
        if let concern = Sharing.concern(directory: configuration.directory) { reports.post(concern) }
        if let concern = courier.destination.concern { reports.post(concern) }
        self.init(
            recorder: QueueRecorder(queue, source, reports, deliversByItself ? Schedule(courier) : nil),
            reports: reports, clock: clock, keys: configuration.payloadKeys,
            swept: SweptNotifications(file: configuration.directory.appendingPathComponent("swept")), source: source,
            courier: courier, isRecording: configuration.isRecording)
    }

    /// Sends what waits, until nothing does or the time is over.
    ///
    /// An app calls it when it goes to the background, an extension before it hands its content on: with the few seconds
    /// that it has. What could not be sent waits for the next time.
    ///
    /// ```swift
    /// await bellwether.flush(within: 3)
    /// ```
    @discardableResult
    public func flush(within seconds: TimeInterval = 20) async -> DeliveryResult {
        guard let courier else { return .delivered }
        // To look would make the directory, for somebody who wants nothing recorded.
        let path = courier.queue.directory.path
        guard isRecording || FileManager.default.fileExists(atPath: path) else { return .delivered }
        return await courier.deliver(within: seconds)
    }

    /// The same while the app goes to the background: the system is asked not to suspend it meanwhile, and when it will, the
    /// delivery is cancelled and awaited, so that nobody is suspended with the queue in hand. Returns at once.
    func flush(within seconds: TimeInterval, in activity: ExpiringActivity) {
        let sending = Guarded((task: Task<Void, Never>?.none, isOver: false))
        activity.perform("Bellwether sends what waits") { [self] done in
            let task = Task {
                await flush(within: seconds)
                done()
            }
            let isOver = sending.withLock { sending in
                sending.task = task
                return sending.isOver
            }
            if isOver { task.cancel() }
        } hurry: {
            let task = sending.withLock { sending in
                sending.isOver = true
                return sending.task
            }
            task?.cancel()
        } refused: {
            // It waits on disk for the next time.
        }
    }

    /// What the developer should know: show it while you develop, log it in life.
    public var diagnostics: AsyncStream<Diagnostic> { reports.stream() }

    /// What the person allowed the app to show. Set it when you learn it; what is recorded from then on says so.
    public var authorization: Authorization? {
        get { source.withLock { $0.authorization } }
        set { source.withLock { $0.authorization = newValue } }
    }

    /// Firebase's name of the installation, by which its delivery data can be joined. Not collected unless it is set.
    public var firebaseInstallationID: String? {
        get { source.withLock { $0.firebaseInstallationID } }
        set { source.withLock { $0.firebaseInstallationID = newValue } }
    }
}

/// What became of a delivery.
public enum DeliveryResult: Hashable, Sendable {
    /// Nothing waits any more.
    case delivered
    /// The network or the server does not do it now; it is worth another try at this time of the device's clock.
    case waiting(until: Date)
    /// Time ran out, or the task was cancelled, before everything was sent.
    case outOfTime
    /// The server does not know the write key. Nothing is sent for six hours, unless the app starts anew.
    case keyRefused
    /// The server's address is neither https nor on this device itself: nothing is sent there.
    case insecureServer
    /// The queue cannot be read now.
    case unavailable
}
