internal import Foundation

/// The events of an install that wait for delivery: append-only files in a directory, used by several processes at
/// once.
///
/// Every call may block while the disk works. It waits for other processes only as long as the caller allows.
final class Queue: Sendable {
    /// How much the queue keeps, and for how long.
    struct Limits: Sendable {
        /// The size of all segments together, in bytes. The oldest events are dropped first.
        var bytes = 8 << 20
        /// How long an event waits at most, in milliseconds of the queue's age clock.
        var age: Int64 = 90 * 86_400_000
        /// A segment of this size takes no more events.
        var segment = 64 << 10
    }

    /// What a process remembers between calls, so that it need not read it again, and does not lose it on a full disk.
    struct Memory: Sendable {
        /// The greatest seq that this process assigned.
        var lastSeq: Int64 = 0
        /// The newest segment when this process last looked.
        var tail: Tail?
        /// The state file at that time.
        var state: (facts: FileFacts, state: QueueState)?
        /// What could not be written to the state file.
        var settled: Int64 = 0
        var acknowledged: Set<UUID> = []
        var unrecorded = Drops()
        var pace: Pace?
        /// The last seq of the batch that this process is delivering; 0 if none.
        var inFlight: Int64 = 0
        /// How many deliveries in a row could not read the state, and whether it was given up.
        var vainLooks = 0
        var isStateGivenUp = false
        /// Whether the directory has its attributes.
        var isMarked = false
    }

    /// What is known about the end of a segment, valid until someone changes the segment.
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
    /// Returns when the data written into a file is on the disk.
    let sync: @Sendable (OpenFile) throws -> Void
    private let mark: @Sendable (_ directory: String) -> Void
    /// How long a recording method waits for others, in seconds. It may run on the main thread, or in a process that
    /// has only seconds to live.
    let patience: TimeInterval
    private let memory = Guarded(Memory())
    /// It has its own lock, which is only held for moments.
    let waiting = Guarded(WaitingRoom())

    /// Does not touch the disk yet. If the directory is unusable, the first operation reports it.
    init(
        directory: URL, limits: Limits = Limits(), diagnostics: Diagnostics = Diagnostics(),
        clock: @escaping @Sendable () -> Date = { Date() }, patience: TimeInterval = Queue.patienceOfDoor,
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
    /// A delivery waits longer, because it blocks no one.
    static let patienceOfDelivery: TimeInterval = 5

    /// The device's time, in milliseconds since 1970.
    var now: Int64 { clock().milliseconds }

    /// Runs `body` exclusively among all threads and processes, after writing the events that waited in memory.
    ///
    /// - Parameter seconds: how long to wait in total.
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
        // After the queue is released, so that others do not wait for the disk.
        for file in written { confirm(file) }
        return try result.get()
    }

    /// Whether events wait in memory.
    var hasWaiting: Bool { waiting.withLock { !$0.entries.isEmpty } }

    /// Writes the events that wait in memory.
    func writeWaiting(within seconds: TimeInterval) throws { try exclusively(within: seconds) { _ in } }

    /// The batch is no longer being delivered, and stays in the queue.
    func putBack() { remember { $0.inFlight = 0 } }

    /// Changes this process's memory without waiting for other processes.
    func remember<Result: Sendable>(_ body: (inout Memory) -> Result) -> Result { memory.withLock { body(&$0) } }

    private func takeLock(until end: TimeInterval, _ memory: inout Memory) throws(QueueError) -> FileLock {
        // Set the attributes before the first file is created in the directory, whoever created it.
        if !memory.isMarked, directory.isThere {
            mark(directory.path)
            memory.isMarked = true
        }
        do {
            return try FileLock(directory.lock, until: end)
        } catch .system(_, _, ENOENT) {
            // The first use, or someone has deleted the directory.
            try directory.make()
            mark(directory.path)
            memory.isMarked = true
            return try FileLock(directory.lock, until: end)
        }
    }
}
