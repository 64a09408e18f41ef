public import Foundation

/// Reports to a Bellwether server what becomes of an app's notifications: whether they arrived, and whether people saw,
/// opened or dismissed them, tapped a button, or watched a story.
///
/// Create one as early as possible when the app starts, keep it, and call its methods from the callbacks that the app
/// has anyway. You can call each method from any thread. When a recording method returns, the event is on disk. It never
/// throws; ``diagnostics`` reports any problem.
///
/// There is one exception: if another process of the app holds the queue for longer than a second, because it was
/// suspended at a bad moment, the method stops waiting. The event then stays in memory (at most a hundred do) until this
/// process next records, flushes or delivers. It is lost if the process ends before that (``Diagnostic/Kind/delayed``).
public final class Bellwether: Sendable {
    let recorder: any Recorder
    let reports: Diagnostics
    let clock: DeviceClock
    let keys: PayloadKeys
    let swept: SweptNotifications
    let activity: AppActivity
    let source: Guarded<Source>
    /// Brings events to the server; nil if something else does.
    let courier: Courier?
    /// Where the system tells its settings; nil where there is none.
    let system: SystemCenter?
    let memory: PermissionMemory
    let expiring: ExpiringActivity
    /// How long it may send by itself after the app went to the background, and in an extension; 0 is not at all.
    let backgroundSeconds: TimeInterval
    let extensionSeconds: TimeInterval

    private struct State {
        var isRecording = true
        var categories: [String: Category] = [:]
        var responses = ResponseMemory()
        var hasToldOfCollapseID = false
    }

    private let state: Guarded<State>

    init(
        recorder: any Recorder, reports: Diagnostics = Diagnostics(), clock: DeviceClock = .system,
        keys: PayloadKeys = PayloadKeys(), swept: SweptNotifications = SweptNotifications(file: nil),
        activity: AppActivity = AppActivity(), source: Guarded<Source> = Guarded(Source()), courier: Courier? = nil,
        system: SystemCenter? = nil, memory: PermissionMemory = PermissionMemory(file: nil),
        expiring: ExpiringActivity = .system, backgroundSeconds: TimeInterval = 0,
        extensionSeconds: TimeInterval = 0, isRecording: Bool = true
    ) {
        self.recorder = recorder
        self.reports = reports
        self.clock = clock
        self.keys = keys
        self.swept = swept
        self.activity = activity
        self.source = source
        self.courier = courier
        self.system = system
        self.memory = memory
        self.expiring = expiring
        self.backgroundSeconds = backgroundSeconds
        self.extensionSeconds = extensionSeconds
        state = Guarded(State(isRecording: isRecording))
        activity.tell(
            AppActivity.Follower(
                cameToFront: { [weak self] in self?.lookAround() },
                wentBehind: { [weak self] in self?.flushIfBehind() }))
    }

    /// Whether events are recorded. Switch it off for people who do not want it. Events recorded before stay, and no
    /// directory is created if there was none.
    public var isRecording: Bool {
        get { state.withLock { $0.isRecording } }
        set { state.withLock { $0.isRecording = newValue } }
    }

    /// Makes the app's categories known, so that a tap on a button is recorded with the button's place and kind.
    ///
    /// Call it where you register them with the system, and pass all of them: the latest call replaces earlier ones.
    public func register(_ categories: [Category]) {
        let byID = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        state.withLock { $0.categories = byID }
    }

    func category(_ id: String?) -> Category? {
        guard let id else { return nil }
        return state.withLock { $0.categories[id] }
    }

    /// Whether this is the first notification in this process that has only a collapse id.
    func isFirstCollapsed() -> Bool {
        state.withLock { state in
            defer { state.hasToldOfCollapseID = true }
            return !state.hasToldOfCollapseID
        }
    }

    /// Whether a response is reported for the first time.
    func isNew(_ response: ResponseMemory.Response, as object: AnyObject?) -> Bool {
        let now = clock.uptime()
        return state.withLock { $0.responses.isNew(response, as: object, at: now) }
    }

    /// Forgets a response that could not be stored, so that a second report of it is recorded.
    func forget(_ response: ResponseMemory.Response, as object: AnyObject?) {
        state.withLock { $0.responses.forget(response, as: object) }
    }

    func report(_ kind: Diagnostic.Kind, _ message: String) { reports.post(Diagnostic(kind, message)) }
}

extension Bellwether {
    /// Where events are sent, and where they wait.
    public struct Configuration: Sendable {
        /// The server's address, such as `https://bellwether.example.com`. Nothing is sent to an `http` address, unless
        /// it is on the device itself (`http://127.0.0.1:8080`, as in the simulator).
        public var server: URL
        /// The app's write key. It ships with the app and allows nothing but writing.
        public var writeKey: String
        /// The directory in which events wait. Only the library uses it.
        ///
        /// The app and its extensions must use the same directory, in the container of an App Group. Otherwise their
        /// events seem to come from two installs.
        public var directory: URL
        /// The version of the app. The default is the bundle's version.
        public var appVersion: String?
        /// Where your own names are in a payload.
        public var payloadKeys = PayloadKeys()
        /// Whether events are recorded from the start.
        public var isRecording = true
        /// Whether deliveries start automatically: some seconds after an event was recorded, and when the app goes to the
        /// background. The default is true in an app, and false in an extension, which lives only briefly.
        public var deliversByItself: Bool?
        /// For how many seconds at most an extension sends after it has handed a notification, or the answer to one, to the
        /// system. So receipts also arrive from phones on which nobody opens the app any more. With 0 it leaves the sending to
        /// the app.
        public var extensionSeconds: TimeInterval = 2
        /// Whether the library reads the notification settings and the notification centre whenever the app comes to the
        /// front: it records what arrived, and when somebody turned notifications on or off.
        public var observesSettings = true
        /// How many bytes may wait. Beyond that, the oldest events are dropped, and the server is told how many.
        public var mostBytes = 8 << 20
        /// How many days an event may wait.
        public var mostDays = 90
        /// How long to wait after a failed delivery: `first` is the maximum in seconds after the first failure. It
        /// doubles up to `longest`. For tests, which cannot take days.
        package var backoff: (first: TimeInterval, longest: TimeInterval) = (2, 600)

        /// How many seconds a recording method waits for other processes. For tests, which run on busy machines.
        package var patience: TimeInterval = 1

        /// Sets where events are sent and where they wait.
        public init(server: URL, writeKey: String, directory: URL) {
            self.server = server
            self.writeKey = writeKey
            self.directory = directory
        }
    }

    /// When notifications show their content.
    public enum Previews: String, Sendable {
        case always, never
        case whenAuthenticated = "when_authenticated"
    }

    /// The person's notification permission.
    public enum Authorization: String, Sendable {
        case authorized, provisional, ephemeral, denied
        case notDetermined = "not_determined"
    }
}
