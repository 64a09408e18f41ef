/// The log of a service: it never blocks the service, and no client can fill a disk with it.
///
/// It has its own thread for writing. While nobody reads the other end, lines wait up to a limit and are then dropped.
/// Of many similar lines, only some are written (`LogSampler`). Dropped lines are counted, and the log reports the
/// count.
package final class ServiceLog: Sendable {
    package let log: Log
    private let queue: LogQueue
    private let write: @Sendable ([UInt8]) -> ArraySlice<UInt8>
    private let unwritten = Lock(0)
    private let hasEnded = Lock(false)

    /// The limit for lines that wait to be read, in bytes.
    private static let capacity = 1 << 20

    /// `write` returns what it could not write.
    package init(
        least: Log.Level = .info, style: Log.Style = StandardStream.error.isTerminal ? .lines : .json,
        write: @escaping @Sendable ([UInt8]) -> ArraySlice<UInt8> = { StandardStream.error.write($0) },
        clock: @escaping @Sendable () -> Deadline = { .now }
    ) {
        let queue = LogQueue(capacity: ServiceLog.capacity)
        (self.queue, self.write) = (queue, write)
        log = Log(least: least, style: style, sampler: LogSampler(clock: clock)) { queue.add($0) }
    }

    /// How many lines were left out, by reason: `repeated` too often, `unread`, or `unwritten`, as on a full disk.
    package var leftOut: [String: Int] {
        ["repeated": log.sampledOut, "unread": queue.total, "unwritten": unwritten.withLock { $0 }]
    }

    /// Starts writing. Call it once, when the signals of the process are set.
    package func start() {
        _ = Worker(name: "log") { [self] in
            while true {
                let (bytes, dropped, isClosed) = queue.next(until: .after(seconds: 1))
                // This may block for ever.
                let lost = bytes.isEmpty ? [] : write(bytes)
                unwritten.withLock { $0 += lost.count { $0 == UInt8(ascii: "\n") } }
                if dropped > 0 {
                    log.warning("log lines were dropped because nobody reads the log", ["left out": "\(dropped)"])
                }
                log.tellWhatWasLeftOut(all: isClosed)
                if isClosed, queue.isEmpty { break }
            }
            hasEnded.withLockNotifying { $0 = true }
        }
    }

    /// Writes the waiting lines, for at most this time: a log that nobody reads must not keep the process alive.
    package func stop(within seconds: Double) {
        queue.close()
        _ = hasEnded.wait(until: .after(seconds: seconds)) { $0 ? true : nil }
    }
}
