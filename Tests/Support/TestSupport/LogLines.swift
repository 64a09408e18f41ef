package import ServiceRuntime

/// A log that remembers its lines.
package final class LogLines: Sendable {
    private let lines = Lock<[String]>([])

    package init() {}

    /// Writes here, all levels, as JSON.
    package var log: Log {
        Log(least: .debug, style: .json) { [lines] line in lines.withLockNotifying { $0.append(line) } }
    }

    package var all: [String] { lines.withLock { $0 } }
}
