package import Postgres
package import ServiceRuntime
package import Values

/// Removes whole months from the log: closes, counts and drops them, each in its own transaction, so that an
/// interrupted run continues from `closedMonths`. Between closing and dropping a month, the caller seals its
/// deliveries.
///
/// With N days, a month stays until it ended N days ago, and for at most N more days while events of it still arrive.
/// If its first event is received later, those days begin then, so that an import of old events is not dropped at once.
/// So whatever clients send, no event is kept for longer than 2 N days after both its receipt and the end of its month.
///
/// All of it needs the owner, and none of it may run within another transaction.
package enum Retention {
    /// A month that may be removed, as found at a position of the log.
    package struct Candidate: Sendable, Equatable {
        package let month: CivilDate
        /// The position of the log up to which its events were checked; nil if it is removed whatever arrives.
        package let lookedAt: Int64?

        package init(month: CivilDate, lookedAt: Int64?) {
            self.month = month
            self.lookedAt = lookedAt
        }
    }

    /// A month that accepts no more events and still has its partition.
    package struct ClosedMonth: Sendable, Equatable {
        package let month: CivilDate
        /// Its table in the schema `log`.
        package let partition: String
        /// All its events are at or before this position of the log.
        package let position: Int64
        /// Whether its losses have been recorded.
        package let isCounted: Bool
    }

    /// The result of an attempt to drop a month.
    package enum DropResult: Sendable { case dropped, busy }

    /// The moment that many days ago; nil if the log can have nothing from before it.
    package static func limit(days: Int, now: Timestamp) -> Timestamp? {
        let (age, isAgeless) = Int64(max(0, days)).multipliedReportingOverflow(by: 86_400_000_000)
        let limit = isAgeless ? .min : now.microseconds.subtractingReportingOverflow(age).partialValue
        // No month is older, and PostgreSQL has no times as far back as some numbers of days reach.
        guard limit > Timestamp.plausible.lowerBound.microseconds else { return nil }
        return Timestamp(microseconds: limit)
    }

    /// An open month that ended long enough ago, as found at a position of the log.
    package struct Standing: Sendable, Equatable {
        package let month: CivilDate
        /// The position of the log up to which its events were checked.
        package let lookedAt: Int64
        /// Whether no event of it occurred or was received since.
        package let isQuiet: Bool
        /// Whether it has waited as long again, so that nothing that arrives can keep it.
        package let isOverdue: Bool

        package init(month: CivilDate, lookedAt: Int64, isQuiet: Bool, isOverdue: Bool) {
            (self.month, self.lookedAt, self.isQuiet, self.isOverdue) = (month, lookedAt, isQuiet, isOverdue)
        }

        /// Nil if something keeps it.
        package var candidate: Candidate? {
            isQuiet || isOverdue ? Candidate(month: month, lookedAt: isQuiet ? lookedAt : nil) : nil
        }
    }

    /// The open months that ended that many days ago, the oldest first, and whether anything keeps them: an event that
    /// occurred or was received since, unless they have waited as long again. Rows of the default partition belong to
    /// no month: `Strays` removes those.
    package static func standings(
        olderThan days: Int, now: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> [Standing] {
        guard let since = limit(days: days, now: now) else { return [] }
        let patience = limit(days: days > .max / 2 ? .max : 2 * days, now: now)
        let months = try connection.query(
            """
            SELECT month, name, coalesce((month + interval '1 month') AT TIME ZONE 'UTC' <= \(patience), false)
            FROM log.partition
            WHERE closed_at IS NULL AND (month + interval '1 month') AT TIME ZONE 'UTC' <= \(since)
            ORDER BY month
            """)
        var standings: [Standing] = []
        for row in months {
            let (month, partition): (CivilDate, String) = (try row.get(0), try row.get(1))
            let look = try patiently(on: &connection) { connection throws(PostgresError) in
                try connection.query(
                    """
                    SELECT coalesce((SELECT max(number) FROM log.batch), 0), EXISTS (
                        SELECT FROM log.\(identifier: partition) AS e JOIN log.batch AS b ON b.id = e.batch_id
                        WHERE coalesce(e.occurred_at, e.device_at) >= \(since)
                            OR coalesce(e.received_at, b.received_at) >= \(since))
                    """)[0]
            }
            let isQuiet = try !look.get(1)
            var isOverdue = false
            if !isQuiet, let patience, try row.get(2) {
                isOverdue = try isHeldTooLong(partition, since: patience, on: &connection)
            }
            standings.append(Standing(month: month, lookedAt: try look.get(0), isQuiet: isQuiet, isOverdue: isOverdue))
        }
        return standings
    }

    /// Whether the first event of a month was received by then.
    private static func isHeldTooLong(
        _ partition: String, since: Timestamp, on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        try patiently(on: &connection) { connection throws(PostgresError) in
            try connection.query(
                """
                SELECT EXISTS (
                    SELECT FROM log.\(identifier: partition) AS e JOIN log.batch AS b ON b.id = e.batch_id
                    WHERE coalesce(e.received_at, b.received_at) <= \(since))
                """)[0].get(0)
        }
    }

    /// Closes a month: when this returns, no node accepts events of it any more. Returns a position that none of its
    /// events is after. Returns nil and closes nothing if an event arrived since the month was checked, since it may
    /// still keep the month.
    package static func close(
        _ candidate: Candidate, on connection: inout Connection
    ) throws(PostgresError) -> Int64? {
        try patiently(on: &connection) { connection throws(PostgresError) in
            try connection.query("SELECT log.close_month(\(candidate.month), \(candidate.lookedAt))")[0].optional(0)
        }
    }

    /// The months that are closed and not yet dropped, the oldest first.
    package static func closedMonths(on connection: inout Connection) throws(PostgresError) -> [ClosedMonth] {
        let rows = try connection.query(
            """
            SELECT month, name, coalesce((SELECT max(number) FROM log.batch), 0), counted_at IS NOT NULL
            FROM log.partition WHERE closed_at IS NOT NULL AND dropped_at IS NULL ORDER BY month
            """)
        var months: [ClosedMonth] = []
        for row in rows {
            months.append(
                ClosedMonth(
                    month: try row.get(0), partition: try row.get(1), position: try row.get(2),
                    isCounted: try row.get(3)))
        }
        return months
    }

    /// Records what each batch loses with a closed month; this counts once the month is dropped. Calling it again does
    /// nothing.
    package static func recordLosses(of month: CivilDate, on connection: inout Connection) throws(PostgresError) {
        _ = try patiently(on: &connection) { connection throws(PostgresError) in
            try connection.query("SELECT log.count_month(\(month))")
        }
    }

    /// Drops the partition of a closed month whose losses are recorded. Readers lock it for as long as they read, and
    /// writers wait behind a waiting drop. So each attempt is short, and it repeats them until the deadline.
    package static func drop(
        _ month: CivilDate, until deadline: Deadline, on connection: inout Connection
    ) throws(PostgresError) -> DropResult {
        while true {
            do {
                try connection.query("SELECT log.drop_month(\(month))")
                return .dropped
            } catch {
                guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
            }
            if deadline.hasPassed { return .busy }
            // Nothing signals the end of a reader.
            let pause = min(Deadline.after(seconds: 0.2), deadline)
            _ = Lock(()).wait(until: pause) { _ in Bool?.none }
        }
    }

    /// Deletes rejected events received before that moment, and removes the installs from older reports of dropped
    /// events, whose counts stay. Returns how many rejected events it deleted.
    package static func forgetRefused(
        receivedBefore limit: Timestamp, most: Int32 = 10_000, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        var forgotten = 0
        while true {
            let rows = try patiently(on: &connection) { connection throws(PostgresError) in
                try connection.query(
                    """
                    DELETE FROM log.rejected WHERE id IN (
                        SELECT id FROM log.rejected WHERE received_at < \(limit) LIMIT \(most))
                    """
                ).affected
            }
            forgotten += rows
            if rows < Int(most) { break }
        }
        _ = try patiently(on: &connection) { connection throws(PostgresError) in
            try connection.query(
                "UPDATE log.client_drop SET install_id = NULL WHERE received_at < \(limit) AND install_id IS NOT NULL")
        }
        return forgotten
    }

    /// Runs a transaction whose statements may take as long as a big month needs.
    private static func patiently<Result>(
        on connection: inout Connection, _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(script: "SET LOCAL statement_timeout = 0")
            return try body(&connection)
        }
    }
}
