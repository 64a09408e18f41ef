package import Postgres
package import Values

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
