internal import Foundation

/// The events of an install that wait for delivery: append-only files in a directory, used by several processes at once.
///
/// Every call may block for as long as a disk needs, and none for longer than `FileLock.patience`.
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
    private let memory = Guarded(Memory())

    /// Touches nothing yet: a directory that cannot be used is told by what is done first.
    init(
        directory: URL, limits: Limits = Limits(), diagnostics: Diagnostics = Diagnostics(),
        clock: @escaping @Sendable () -> Date = { Date() },
        sync: @escaping @Sendable (OpenFile) throws -> Void = { try $0.sync() },
        mark: @escaping @Sendable (_ directory: String) -> Void = FileSystem.system.mark
    ) {
        self.directory = QueueDirectory(directory)
        self.limits = limits
        self.diagnostics = diagnostics
        self.clock = clock
        self.sync = sync
        self.mark = mark
    }

    /// What the device's clock says, in milliseconds since 1970.
    var now: Int64 { clock().milliseconds }

    /// Runs `body` alone among all threads and processes.
    func exclusively<Result: Sendable>(_ body: (inout Memory) throws -> Result) throws -> Result {
        try memory.withLock { memory in
            let lock = try takeLock(&memory)
            defer { withExtendedLifetime(lock) {} }
            return try body(&memory)
        }
    }

    /// A batch is not on its way any more, and stays in the queue.
    func putBack() { remember { $0.inFlight = 0 } }

    /// Changes what is remembered, without asking other processes.
    func remember<Result: Sendable>(_ body: (inout Memory) -> Result) -> Result { memory.withLock { body(&$0) } }

    private func takeLock(_ memory: inout Memory) throws(QueueError) -> FileLock {
        // Before the first file is made in it, whoever made the directory.
        if !memory.isMarked, directory.isThere {
            mark(directory.path)
            memory.isMarked = true
        }
        do {
            return try FileLock(directory.lock)
        } catch .system(_, _, ENOENT) {
            // The first time, or somebody has taken the directory away.
            try directory.make()
            mark(directory.path)
            memory.isMarked = true
            return try FileLock(directory.lock)
        }
    }
}
