public import Foundation

extension Bellwether {
    /// Creates a library that is ready for use. It never throws and never waits. ``diagnostics`` reports any problem.
    ///
    /// ```swift
    /// let bellwether = Bellwether(
    ///     Bellwether.Configuration(server: address, writeKey: "…", directory: directory))
    /// ```
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, transport: URLSessionTransport(), clock: .system, system: .system, expiring: .system)
    }

    convenience init(
        _ configuration: Configuration, transport: any Transport, clock: DeviceClock, system: SystemCenter? = nil,
        expiring: ExpiringActivity = .system, activity: AppActivity = AppActivity()
    ) {
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
        let memory = PermissionMemory(file: configuration.directory.appendingPathComponent("permission"))
        var source = Source(appVersion: configuration.appVersion ?? Device.bundleVersion)
        if let known = memory.read() {
            source.authorization = known.authorization.flatMap(Authorization.init)
            source.previews = known.previews.flatMap(Previews.init)
        }
        if let concern = Sharing.concern(directory: configuration.directory) { reports.post(concern) }
        if let concern = courier.destination.concern { reports.post(concern) }
        let shared = Guarded(source)
        self.init(
            recorder: QueueRecorder(queue, shared, reports, deliversByItself ? Schedule(courier) : nil),
            reports: reports, clock: clock, keys: configuration.payloadKeys,
            swept: SweptNotifications(file: configuration.directory.appendingPathComponent("swept")),
            activity: activity, source: shared, courier: courier,
            system: configuration.observesSettings && !Device.isExtension ? system : nil, memory: memory,
            expiring: expiring, backgroundSeconds: deliversByItself ? 20 : 0,
            extensionSeconds: configuration.extensionSeconds,
            isRecording: configuration.isRecording)
    }

    /// Sends what an extension has recorded, after the system has got its answer.
    func flushInExtension() {
        guard extensionSeconds > 0 else { return }
        flush(within: extensionSeconds, in: expiring)
    }

    /// Sends what waits when the app goes to the background, and what was recorded when the system woke it there: it may be
    /// suspended again soon.
    func flushIfBehind() {
        guard backgroundSeconds > 0, activity.isBehind else { return }
        flush(within: backgroundSeconds, in: expiring)
    }

    /// Sends waiting events until none are left or the time is over.
    ///
    /// The library calls it by itself when the app goes to the background, when the system woke the app there, and in a
    /// service extension after each receipt. Events that could not be sent wait for the next time.
    ///
    /// ```swift
    /// await bellwether.flush(within: 3)
    /// ```
    @discardableResult
    public func flush(within seconds: TimeInterval = 20) async -> DeliveryResult {
        guard let courier else { return .delivered }
        // A look at the queue would create the directory, even for a person who wants nothing recorded.
        let path = courier.queue.directory.path
        guard isRecording || FileManager.default.fileExists(atPath: path) else { return .delivered }
        return await courier.deliver(within: seconds)
    }

    /// Does the same while the app goes to the background. It asks the system not to suspend the app. If the system has
    /// to, it cancels the delivery and waits for it, so that the process is never suspended while it holds the queue.
    /// Returns at once.
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
            // The event waits on disk for the next time.
        }
    }

    /// Problems that the developer should know about. Show them during development, log them in production.
    public var diagnostics: AsyncStream<Diagnostic> { reports.stream() }

    /// The person's notification permission, which later events carry. The library reads it whenever the app comes to the front.
    /// Set it only if ``Configuration/observesSettings`` is off.
    public var authorization: Authorization? {
        get { source.withLock { $0.authorization } }
        set { source.withLock { $0.authorization = newValue } }
    }

    /// The Firebase installation ID, which can be joined with Firebase's delivery data. It is collected only if you set
    /// it.
    public var firebaseInstallationID: String? {
        get { source.withLock { $0.firebaseInstallationID } }
        set { source.withLock { $0.firebaseInstallationID = newValue } }
    }
}

/// The result of a delivery.
public enum DeliveryResult: Hashable, Sendable {
    /// No events wait any more.
    case delivered
    /// The network or the server does not work now. Try again at this time of the device's clock.
    case waiting(until: Date)
    /// Time ran out, or the task was cancelled, before everything was sent.
    case outOfTime
    /// The server does not know the write key. Nothing is sent for six hours, unless the app restarts.
    case keyRefused
    /// The server's address is neither https nor on this device, so nothing is sent.
    case insecureServer
    /// The queue cannot be read now.
    case unavailable
}
