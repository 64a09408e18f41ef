internal import Foundation

/// The events of an install that wait for delivery: append-only files in a directory, used by several processes at once.
///
/// Every call may block for as long as a disk needs. For others it waits no longer than it is told.
final class Queue: Sendable {
    /// How much is kept, and how.
    struct Limits: Sendable {
        /// All segments together, in bytes. What is oldest goes first.
        var bytes = 8 << 20
        /// How long an event waits at most, in milliseconds of the queue's age clock.
        var age: Int64 = 90 * 86_400_000
        /// A segment as large as this gets no more.
        var segment = 64 << 10
    }

    /// What a process remembers between calls, so that it need not read it again or lose it on a full disk.
    struct Memory: Sendable {
        /// The greatest seq that this process gave out.
        var lastSeq: Int64 = 0
        /// The newest segment as it was after this process's last look.
        var tail: Tail?
        /// The state file as it was then.
        var state: (facts: FileFacts, state: QueueState)?
        /// What could not be written down.
        var settled: Int64 = 0
        var acknowledged: Set<UUID> = []
        var unrecorded = Drops()
        var pace: Pace?
        /// The last seq of the batch that this process is delivering; 0 if none.
        var inFlight: Int64 = 0
        /// How often in a row a delivery could not read the state, and whether it is given up.
        var vainLooks = 0
        var isStateGivenUp = false
        /// Whether the directory was told what it is.
        var isMarked = false
    }

    /// What is known of the end of a segment that nobody has touched since.
    struct Tail: Sendable {
        let segment: QueueDirectory.Segment
        let facts: FileFacts
        let lastSeq: Int64
        let lastAge: Int64
        let endsWhole: Bool
    }

    let directory: QueueDirectory
    let limits: Limits
    let diagnostics: Diagnostics
    private let clock: @Sendable () -> Date
    /// Returns when what was written into a file is on the disk.
    let sync: @Sendable (OpenFile) throws -> Void
    private let mark: @Sendable (_ directory: String) -> Void
    /// How long a door waits for others, in seconds: it may be called on the main thread, or have seconds to live.
    let patience: TimeInterval
    private let memory = Guarded(Memory())
    /// Under a lock of its own, which nobody holds for longer than a moment.
    let waiting = Guarded(WaitingRoom())

    /// Touches nothing yet: a directory that cannot be used is told by what is done first.
    init(
        directory: URL, limits: Limits = Limits(), diagnostics: Diagnostics = Diagnostics(),
        clock: @escaping @Sendable () -> Date = { Date() },
        patience: TimeInterval = Queue.patienceOfDoor,
        sync: @escaping @Sendable (OpenFile) throws -> Void = { try $0.sync() },
        mark: @escaping @Sendable (_ directory: String) -> Void = FileSystem.system.mark
    ) {
        self.directory = QueueDirectory(directory)
        self.limits = limits
        self.diagnostics = diagnostics
        self.clock = clock
        self.patience = patience
        self.sync = sync
        self.mark = mark
    }

    static let patienceOfDoor: TimeInterval = 1
    /// A delivery waits for longer: it holds up nobody.
    static let patienceOfDelivery: TimeInterval = 5

    /// What the device's clock says, in milliseconds since 1970.
    var now: Int64 { clock().milliseconds }

    /// Runs `body` alone among all threads and processes, after what waited in memory was written down.
    ///
    /// - Parameter seconds: how long to wait for all of them together.
    func exclusively<Result: Sendable>(
        within seconds: TimeInterval = Queue.patienceOfDelivery, _ body: (inout Memory) throws -> Result
    ) throws -> Result {
        let end = ProcessInfo.processInfo.systemUptime + seconds
        let done = try memory.withLock(within: seconds) { memory in
            let lock = try takeLock(until: end, &memory)
            defer { withExtendedLifetime(lock) {} }
            let written = writeWaiting(&memory)
            return (Swift.Result { try body(&memory) }, written)
        }
        guard let (result, written) = done else { throw QueueError.busy }
        // Not while others wait.
        for file in written { confirm(file) }
        return try result.get()
    }

    /// Whether events wait in memory.
    var hasWaiting: Bool { waiting.withLock { !$0.entries.isEmpty } }

    /// Writes down what waits in memory.
    func writeWaiting(within seconds: TimeInterval) throws { try exclusively(within: seconds) { _ in } }

    /// A batch is not on its way any more, and stays in the queue.
    func putBack() { remember { $0.inFlight = 0 } }

    /// Changes what is remembered, without asking other processes.
    func remember<Result: Sendable>(_ body: (inout Memory) -> Result) -> Result { memory.withLock { body(&$0) } }

    private func takeLock(until end: TimeInterval, _ memory: inout Memory) throws(QueueError) -> FileLock {
        // Before the first file is made in it, whoever made the directory.
        if !memory.isMarked, directory.isThere {
            mark(directory.path)
            memory.isMarked = true
        }
        do {
            return try FileLock(directory.lock, until: end)
        } catch .system(_, _, ENOENT) {
            // The first time, or somebody has taken the directory away.
            try directory.make()
            mark(directory.path)
            memory.isMarked = true
            return try FileLock(directory.lock, until: end)
        }
    }
}
