public import Foundation

extension Bellwether {
    /// Creates a library that is ready for use. It never throws and never waits. ``diagnostics`` reports any problem.
    ///
    /// ```swift
    /// let bellwether = Bellwether(
    ///     Bellwether.Configuration(server: address, writeKey: "…", directory: directory))
    /// ```
    public convenience init(_ configuration: Configuration) {
        self.init(
            configuration, transport: URLSessionTransport(usesExpensiveNetworks: configuration.usesExpensiveNetworks),
            clock: .system, system: .system, expiring: .system)
    }

    convenience init(
        _ configuration: Configuration, transport: any Transport, clock: DeviceClock, system: SystemCenter? = nil,
        expiring: ExpiringActivity = .system, activity: AppActivity = AppActivity(),
        isExtension: Bool = Device.isExtension, log: Logbook? = nil
    ) {
        let log = log ?? Logbook(configuration.log)
        let reports = Diagnostics(log)
        let limits = Queue.Limits(maximumBytes: configuration.maximumBytes, maximumDays: configuration.maximumDays)
        let queue = Queue(
            directory: configuration.directory, limits: limits, diagnostics: reports, clock: clock.wall,
            patience: configuration.patience)
        let courier = Courier(
            queue: queue, transport: transport,
            destination: Courier.Destination(server: configuration.server, key: configuration.writeKey), clock: clock,
            backoff: Backoff(base: configuration.backoff.first, longest: configuration.backoff.longest),
            diagnostics: reports, mostEvents: configuration.batchSize)
        let deliversByItself = configuration.deliversByItself && !isExtension
        let memory = PermissionMemory(file: configuration.directory.appendingPathComponent(FileName.permission))
        var source = Source(appVersion: configuration.appVersion ?? Device.bundleVersion)
        if let known = memory.read() {
            source.authorization = known.authorization.flatMap(Authorization.init)
            source.previews = known.previews.flatMap(Previews.init)
            source.settings = known.settings
        }
        if let concern = Sharing.concern(directory: configuration.directory) { reports.post(concern) }
        if let concern = courier.destination.concern { reports.post(concern) }
        let shared = Guarded(source)
        self.init(
            recorder: QueueRecorder(
                queue, shared, reports,
                deliversByItself ? Schedule(courier, delay: Schedule.sensible(configuration.flushInterval)) : nil),
            reports: reports, clock: clock, keys: configuration.payloadKeys,
            swept: SweptNotifications(file: configuration.directory.appendingPathComponent(FileName.swept)),
            activity: activity, source: shared, courier: courier,
            system: configuration.observesSettings && !isExtension ? system : nil, memory: memory,
            expiring: expiring, queue: queue,
            appOpens: configuration.recordsAppOpen && !isExtension
                ? AppOpens(file: configuration.directory.appendingPathComponent(FileName.appOpen)) : nil,
            mediaRules: configuration.mediaRules, recordsSummaryArgument: configuration.recordsSummaryArgument,
            log: log,
            backgroundSeconds: deliversByItself ? 20 : 0,
            extensionSeconds: isExtension ? configuration.extensionSeconds : 0, isRecording: configuration.isRecording)
    }

    /// The files beside the queue's own.
    enum FileName {
        static let permission = "permission"
        static let swept = "swept"
        static let appOpen = "app-open"
        static let all = [permission, swept, appOpen]
    }

    /// Sends what an extension has just recorded: it may never run again. Does nothing in an app.
    func flushInExtension() {
        guard extensionSeconds > 0 else { return }
        flush(within: extensionSeconds, in: expiring)
    }

    /// Sends what waits when the app goes to the background, and what was recorded when the system woke it there: it
    /// may be suspended again soon.
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
        let result = await courier.deliver(within: seconds)
        log.note("A delivery ended: \(result).")
        return result
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

    /// The person's notification permission, which later events carry. The library reads it whenever the app comes to
    /// the front. Set it only if ``Configuration/observesSettings`` is off.
    public var authorization: Authorization? {
        get { source.withLock { $0.authorization } }
        set { source.withLock { $0.authorization = newValue } }
    }

    /// What notifications may do, which later events carry. The library reads it together with ``authorization``.
    public var settings: Settings? {
        get { source.withLock { $0.settings } }
        set { source.withLock { $0.settings = newValue } }
    }

    /// The Firebase installation ID, which can be joined with Firebase's delivery data. The library reads it from the
    /// payload of each push that Firebase sends; what you set takes precedence.
    public var firebaseInstallationID: String? {
        get { source.withLock { $0.firebaseInstallationID } }
        set { source.withLock { $0.firebaseInstallationID = newValue } }
    }
}
