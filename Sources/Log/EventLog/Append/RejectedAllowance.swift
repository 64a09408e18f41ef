internal import ServiceRuntime
internal import Values

/// How many more rejected events are kept today, app by app, so that a client that sends only garbage cannot fill the
/// disk. Beyond that they are only counted.
package final class RejectedAllowance: Sendable {
    private struct Day: Hashable {
        let app: Int32
        let day: Int64

        init(_ app: Int32, _ time: Timestamp) {
            self.app = app
            day = time.microseconds / 86_400_000_000
        }
    }

    private let mostRows: Int
    private let mostBytes: Int
    private let used: Lock<[Day: (rows: Int, bytes: Int)]>

    package init(rowsPerDay: Int = 10_000, bytesPerDay: Int = 32 * 1024 * 1024) {
        mostRows = rowsPerDay
        mostBytes = bytesPerDay
        used = Lock([:])
    }

    /// Whether this process must first ask the log how much it kept of this app today.
    func isUnknown(app: Int32, at time: Timestamp) -> Bool {
        used.withLock { used in used[Day(app, time)] == nil }
    }

    /// Sets how much the log has kept today; asked once a day.
    func learn(app: Int32, at time: Timestamp, rows: Int, bytes: Int) {
        used.withLock { used in
            let day = Day(app, time)
            guard used[day] == nil else { return }
            used = used.filter { $0.key.day == day.day }
            used[day] = (rows, bytes)
        }
    }

    /// Takes some of the allowance; false if today's is used up.
    func take(_ refusal: Refusal) -> Bool {
        used.withLock { used in
            let day = Day(refusal.app, refusal.receivedAt)
            let (rows, bytes) = used[day] ?? (0, 0)
            guard rows < mostRows, bytes + refusal.bytes <= mostBytes else { return false }
            used[day] = (rows + 1, bytes + refusal.bytes)
            return true
        }
    }

    /// Gives back what was taken for an event that was not stored after all.
    func giveBack(_ refusal: Refusal) {
        used.withLock { used in
            let day = Day(refusal.app, refusal.receivedAt)
            guard let (rows, bytes) = used[day] else { return }
            used[day] = (rows - 1, bytes - refusal.bytes)
        }
    }
}
