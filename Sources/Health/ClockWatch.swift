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

/// This machine's clock beside that of the database, and beside the last commit of the log.
///
/// Devices' times are corrected by this machine's clock, and what is stored stays. So where two clocks disagree, nothing is
/// corrected: which of them is wrong only a person can say.
package struct ClockComparison: Sendable, Equatable {
    /// How far two clocks may differ.
    package static let tolerance: Int64 = 120_000_000

    /// This machine's time before and after the database was asked.
    let before: Timestamp
    let after: Timestamp
    let database: Timestamp
    let lastCommit: Timestamp?

    package init(before: Timestamp, after: Timestamp, database: Timestamp, lastCommit: Timestamp?) {
        (self.before, self.after, self.database, self.lastCommit) = (before, after, database, lastCommit)
    }

    /// Asks the database. `clock` is this machine's.
    package init(
        on connection: inout Connection, clock: () -> Timestamp
    ) throws(PostgresError) {
        before = clock()
        let row = try connection.queryPrepared(
            "SELECT clock_timestamp(), (SELECT committed_at FROM log.batch ORDER BY number DESC LIMIT 1)")[0]
        (database, lastCommit) = (try row.get(0), try row.optional(1))
        after = clock()
    }

    /// What is wrong, in words for an operator; nil where the clocks agree. One that trusts the clock in spite of the last
    /// commit says that the log's times are the wrong ones.
    package func fault(trustsClock: Bool = false) -> String? {
        // The database looked at its clock somewhere between the two.
        if database - after > Self.tolerance {
            return "the clock of this machine is \(Self.span(database - after)) behind the clock of its database"
        }
        if before - database > Self.tolerance {
            return "the clock of this machine is \(Self.span(before - database)) ahead of the clock of its database"
        }
        if !trustsClock, let lastCommit, lastCommit - after > Self.tolerance {
            return
                "the clocks of this machine and of its database are \(Self.span(lastCommit - after)) behind the last commit of the log"
        }
        return nil
    }

    private static func span(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        return seconds < 7200 ? "\(seconds) s" : "\(seconds / 3600) h"
    }
}
