internal import Foundation

/// Reports to a Bellwether server what becomes of an app's notifications: whether they arrived, and whether people saw,
/// opened or dismissed them, tapped a button, or watched a story.
///
/// Create one as early as possible when the app starts, keep it, and call its methods from the callbacks that the app
/// has anyway. You can call each method from any thread. When a recording method returns, the event is on disk. It
/// never throws; ``diagnostics`` reports any problem.
///
/// There is one exception: if another process of the app holds the queue for longer than a second, because it was
/// suspended at a bad moment, the method stops waiting. The event then stays in memory (at most a hundred do) until
/// this process next records, flushes or delivers. It is lost if the process ends before that
/// (``Diagnostic/Kind/delayed``).
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
    /// What waits, and whether the person wants anything recorded; nil in tests of the rest.
    let queue: Queue?
    /// When `app_open` was last recorded; nil if the app does not want it.
    let appOpens: AppOpens?
    let mediaRules: MediaRules
    /// Asks how large media are.
    let mediaSize: @Sendable (URL) async -> Int?
    let recordsSummaryArgument: Bool
    let log: Logbook
    /// How long it may send by itself after the app went to the background, and in an extension; 0 is not at all.
    let backgroundSeconds: TimeInterval
    let extensionSeconds: TimeInterval

    private struct State {
        var isRecording = true
        var categories: [String: Category] = [:]
        var responses = ResponseMemory()
        var hasToldOfCollapseID = false
        var unshown: Set<String> = []
    }

    private let state: Guarded<State>

    init(
        recorder: any Recorder, reports: Diagnostics = Diagnostics(), clock: DeviceClock = .system,
        keys: PayloadKeys = PayloadKeys(), swept: SweptNotifications = SweptNotifications(file: nil),
        activity: AppActivity = AppActivity(), source: Guarded<Source> = Guarded(Source()), courier: Courier? = nil,
        system: SystemCenter? = nil, memory: PermissionMemory = PermissionMemory(file: nil),
        expiring: ExpiringActivity = .system, queue: Queue? = nil, appOpens: AppOpens? = nil,
        mediaRules: MediaRules = MediaRules(), mediaSize: @escaping @Sendable (URL) async -> Int? = MediaSize.system,
        recordsSummaryArgument: Bool = false, log: Logbook = Logbook(.nothing),
        backgroundSeconds: TimeInterval = 0, extensionSeconds: TimeInterval = 0, isRecording: Bool = true
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
        self.queue = queue
        self.appOpens = appOpens
        self.mediaRules = mediaRules
        self.mediaSize = mediaSize
        self.recordsSummaryArgument = recordsSummaryArgument
        self.log = log
        self.backgroundSeconds = backgroundSeconds
        self.extensionSeconds = extensionSeconds
        state = Guarded(State(isRecording: isRecording))
        activity.tell(
            AppActivity.Follower(
                cameToFront: { [weak self] in self?.lookAround() },
                wentBehind: { [weak self] in self?.flushIfBehind() }))
    }

    /// Whether events are recorded: false after ``optOut(_:)`` in any process of the app, too. Setting it lasts for
    /// this process alone. Events recorded before stay, and no directory is created if there was none.
    public var isRecording: Bool {
        get { state.withLock { $0.isRecording } && queue?.directory.isOptedOut != true }
        set { state.withLock { $0.isRecording = newValue } }
    }

    /// Makes the app's categories known, so that a tap on a button is recorded with the button's place and kind.
    ///
    /// Call it where you register them with the system, and pass all of them: the latest call replaces earlier ones.
    public func register(_ categories: [Category]) {
        let byID = Dictionary(categories.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        state.withLock { $0.categories = byID }
        tellOfUnshown(Set(byID.keys), EmbeddedExtensions.ofThisApp)
    }

    /// Reports the categories that no content extension shows, each once: nobody can expand them.
    func tellOfUnshown(_ categories: Set<String>, _ extensions: EmbeddedExtensions) {
        let unshown = extensions.unshown(of: categories)
        let new = state.withLock { state in
            defer { state.unshown.formUnion(unshown) }
            return unshown.filter { !state.unshown.contains($0) }
        }
        guard !new.isEmpty else { return }
        report(
            .notExpandable,
            """
            No content extension shows \(new.sorted().prefix(20).joined(separator: ", ")): list each category in \
            UNNotificationExtensionCategory of the extension's Info.plist, or it is never counted as expanded.
            """)
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
