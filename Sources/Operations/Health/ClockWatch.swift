package import Postgres
package import ServiceRuntime
package import Values

/// Whether this machine's clock can be trusted now. It is compared with the database's clock every second, and in
/// between with the monotonic clock, which nobody sets.
package final class ClockWatch: Sendable {
    private struct State {
        /// The result of the last comparison.
        var fault: String? = "the clock of this machine has not yet been compared with the clock of its database"
        /// The distance of this machine's time from its monotonic clock at that moment.
        var distance: Int64 = 0
        /// The latest time on which both clocks agreed. A commit that is under way while both are set back gets an
        /// early time, and would hide that they were.
        var latest: Timestamp?
        /// Whether it was written to the log.
        var isTold = false
    }

    private let state = Lock(State())
    private let trustsClock: Bool
    private let log: Log
    private let clock: @Sendable () -> Timestamp

    /// With `trustsClock`, the log's last commits may be ahead of this clock.
    package init(trustsClock: Bool = false, log: Log, clock: @escaping @Sendable () -> Timestamp = { WallClock.now }) {
        self.trustsClock = trustsClock
        self.log = log
        self.clock = clock
    }

    /// Why this clock must not correct times; nil if it can be trusted.
    package var fault: String? { fault(of: reading) }

    /// The time of this clock.
    package var reading: ClockReading { ClockReading(of: clock) }

    /// Why a time that was read from this clock, now or a while ago, must not correct others; nil if it can be trusted.
    package func fault(of reading: ClockReading) -> String? {
        state.withLock { state in
            if let fault = state.fault { return fault }
            guard abs(reading.distance - state.distance) > ClockComparison.tolerance else { return nil }
            return "the clock of this machine was set a moment ago"
        }
    }

    /// Compares the clock with the database's.
    package func compare(on connection: inout Connection) throws(PostgresError) {
        let before = reading.distance
        let comparison = try ClockComparison(on: &connection, clock: clock)
        let distance = reading.distance
        let (fault, isNews) = state.withLock { state in
            let fault =
                abs(distance - before) > ClockComparison.tolerance
                ? "the clock of this machine was set a moment ago"
                : comparison.fault(trustsClock: trustsClock, latest: state.latest)
            defer { (state.fault, state.distance, state.isTold) = (fault, distance, fault != nil) }
            if fault == nil { state.latest = max(state.latest ?? comparison.database, comparison.database) }
            return (fault, state.isTold != (fault != nil))
        }
        guard isNews else { return }
        if let fault {
            log.error("no events are accepted while the clocks disagree", ["reason": fault])
        } else {
            log.info("the clocks agree again")
        }
    }
}

/// This machine's clock compared with that of the database, and with the last commit of the log.
///
/// This machine's clock corrects the times of devices, and what is stored stays. So if two clocks disagree, nothing is
/// corrected: only a person can say which one is wrong.
package struct ClockComparison: Sendable, Equatable {
    /// How far two clocks may differ.
    package static let tolerance: Int64 = 120_000_000

    /// This machine's time before and after asking the database.
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

    /// What is wrong, for an operator; nil if the clocks agree. With `trustsClock`, a last commit in the future is no
    /// fault, nor are clocks behind the `latest` time that they have shown: then the times of before are the wrong
    /// ones.
    package func fault(trustsClock: Bool = false, latest: Timestamp? = nil) -> String? {
        // The database read its clock at some moment between the two.
        if database - after > Self.tolerance {
            return "the clock of this machine is \(Self.span(database - after)) behind the clock of its database"
        }
        if before - database > Self.tolerance {
            return "the clock of this machine is \(Self.span(before - database)) ahead of the clock of its database"
        }
        if !trustsClock, let lastCommit, lastCommit - after > Self.tolerance {
            return
                "the clocks of this machine and of its database are \(Self.span(lastCommit - after)) behind "
                + "the last commit of the log"
        }
        if !trustsClock, let latest, latest - after > Self.tolerance {
            return
                "the clocks of this machine and of its database are \(Self.span(latest - after)) behind what they "
                + "were while this service ran"
        }
        return nil
    }

    private static func span(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        return seconds < 7200 ? "\(seconds) s" : "\(seconds / 3600) h"
    }
}
