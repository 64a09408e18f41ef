public import Foundation

/// Tells a Bellwether server what becomes of an app's notifications: that they arrived, were shown, opened, dismissed,
/// answered with a button, or watched as a story.
///
/// Make one as early as the app starts, keep it, and call its doors from the callbacks that the app has anyway. Every
/// door may be called from any thread. When it returns, the event is on disk; it never throws, and what goes wrong is
/// told by ``diagnostics``.
///
/// One exception: where another process of the app holds the queue for longer than a second, because it was stopped in the
/// middle of a moment's work, a door does not wait on. Its event is then in memory, as one of a hundred at most, until this
/// process records, flushes or delivers the next time; it is lost if the process ends before
/// (``Diagnostic/Kind/delayed``).
public final class Bellwether: Sendable {
    let recorder: any Recorder
    let reports: Diagnostics
    let clock: DeviceClock
    let keys: PayloadKeys
    let swept: SweptNotifications
    let activity: AppActivity
    let source: Guarded<Source>
    /// What brings events to the server; nothing where somebody else does.
    let courier: Courier?

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
        isRecording: Bool = true
    ) {
        self.recorder = recorder
        self.reports = reports
        self.clock = clock
        self.keys = keys
        self.swept = swept
        self.activity = activity
        self.source = source
        self.courier = courier
        state = Guarded(State(isRecording: isRecording))
    }

    /// Whether the doors record. Switch it off for somebody who does not want it; what was recorded before stays, and where
    /// there was nothing, nothing is made on disk.
    public var isRecording: Bool {
        get { state.withLock { $0.isRecording } }
        set { state.withLock { $0.isRecording = newValue } }
    }

    /// Makes the app's categories known, so that a tap can be told with its button's place and kind.
    ///
    /// Call it where you register them with the system, and with all of them; the newest call counts.
    public func register(_ categories: [Category]) {
        let byID = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        state.withLock { $0.categories = byID }
    }

    func category(_ id: String?) -> Category? {
        guard let id else { return nil }
        return state.withLock { $0.categories[id] }
    }

    /// Whether a notification with nothing but a collapse id is the first of the process.
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

    /// A response was not kept: its second report may save it.
    func forget(_ response: ResponseMemory.Response, as object: AnyObject?) {
        state.withLock { $0.responses.forget(response, as: object) }
    }

    func report(_ kind: Diagnostic.Kind, _ message: String) { reports.post(Diagnostic(kind, message)) }
}

extension Bellwether {
    /// Where events go, and where they wait.
    public struct Configuration: Sendable {
        /// The server's address, such as `https://bellwether.example.com`. Nothing is sent to an `http` address, unless it is
        /// that of the device itself (`http://127.0.0.1:8080`, as in the simulator).
        public var server: URL
        /// The app's write key. It ships with the app and can do nothing but write.
        public var writeKey: String
        /// The directory in which events wait, of the library's alone.
        ///
        /// The app and its extensions must give the same one, in the container of an App Group: otherwise what they tell
        /// seems to come from two installs.
        public var directory: URL
        /// The version of the app; else the bundle's.
        public var appVersion: String?
        /// Where in a payload your own names for things stand.
        public var payloadKeys = PayloadKeys()
        /// Whether the doors record from the start.
        public var isRecording = true
        /// Whether deliveries begin by themselves, some seconds after something was recorded; else in an app, and not in
        /// an extension, which lives for moments and calls ``Bellwether/flush(within:)``.
        public var deliversByItself: Bool?
        /// How many bytes may wait. When there are more, the oldest events go, and the server is told how many.
        public var mostBytes = 8 << 20
        /// How many days an event may wait.
        public var mostDays = 90
        /// How long to wait after a delivery that failed: at most so many seconds the first time, doubling to so many. For
        /// tests, which have no days.
        package var backoff: (first: TimeInterval, longest: TimeInterval) = (2, 600)

        /// How many seconds a door waits for other processes. For tests, which run where the machine is busy.
        package var patience: TimeInterval = 1

        /// Describes where events go and where they wait.
        public init(server: URL, writeKey: String, directory: URL) {
            self.server = server
            self.writeKey = writeKey
            self.directory = directory
        }
    }

    /// What the person allowed the app to show.
    public enum Authorization: String, Sendable {
        case authorized, provisional, ephemeral, denied
        case notDetermined = "not_determined"
    }
}
