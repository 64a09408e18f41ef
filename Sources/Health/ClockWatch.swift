package import Postgres
package import ServiceRuntime
package import Values

/// Whether this machine's clock may be believed now: compared with the database's every second, and in between with the
/// monotonic clock, which nobody sets.
package final class ClockWatch: Sendable {
    private struct State {
        /// As the last comparison found it.
        var fault: String? = "the clock of this machine has not yet been compared with the clock of its database"
        /// How far this machine's time was from its monotonic clock then, in microseconds.
        var offset: Int64 = 0
        /// Whether the log has been told of it.
        var isTold = false
    }

    private let state = Lock(State())
    private let trustsClock: Bool
    private let log: Log
    private let clock: @Sendable () -> Timestamp

    /// `trustsClock`: the log's last commits may lie ahead of this clock.
    package init(trustsClock: Bool = false, log: Log, clock: @escaping @Sendable () -> Timestamp = { WallClock.now }) {
        self.trustsClock = trustsClock
        self.log = log
        self.clock = clock
    }

    /// Why times must not be corrected by this clock; nil where it is believed.
    package var fault: String? {
        let offset = self.offset
        return state.withLock { state in
            if let fault = state.fault { return fault }
            guard abs(offset - state.offset) > ClockComparison.tolerance else { return nil }
            return "the clock of this machine was set and has not yet been compared with the clock of its database"
        }
    }

    /// Compares it with the database's.
    package func compare(on connection: inout Connection) throws(PostgresError) {
        let offset = self.offset
        let fault = try ClockComparison(on: &connection, clock: clock).fault(trustsClock: trustsClock)
        let isNews = state.withLock { state in
            defer { (state.fault, state.offset, state.isTold) = (fault, offset, fault != nil) }
            return state.isTold != (fault != nil)
        }
        guard isNews else { return }
        if let fault {
            log.error("no events are accepted while the clocks disagree", ["reason": fault])
        } else {
            log.info("the clocks agree again")
        }
    }

    private var offset: Int64 { clock().microseconds - Deadline.now.nanoseconds / 1000 }
}
