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
