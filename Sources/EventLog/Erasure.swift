package import Postgres
internal import Telemetry
package import Values

/// Takes one install out of the log. In order: `begin`, after which no node takes anything of it from before;
/// `findEvents`, which reads the whole log and holds nobody up; `deleteEvents`, in the transaction that also corrects
/// what was made of them. Interrupted, it is begun again.
///
/// All of it is the owner's, on one connection.
package struct Erasure: Sendable, Equatable {
    package let app: Int32
    package let install: UUID
    /// Its number among the batches of the log.
    package let number: Int64
    /// What of this install occurred before is refused from now on.
    package let erasedAt: Timestamp

    /// The events of an install as they were found, standing in `Erasure.table`.
    package struct Findings: Sendable, Equatable {
        package let events: Int64
        /// Position of the log up to which all are found.
        package let position: Int64
        /// What was refused and names the install somewhere in its text, whoever sent it.
        package let mentions: [Int64]
    }

    /// What is gone.
    package struct Receipt: Sendable, Equatable {
        /// By the month of the device's clock, the oldest first.
        package internal(set) var events: [MonthCount] = []
        package internal(set) var rejected = 0
        /// Reports of dropped events that no longer name the install.
        package internal(set) var clientDrops = 0

        package var total: Int64 { events.reduce(0) { $0 + $1.events } }
    }

    /// So many events of a month.
    package struct MonthCount: Sendable, Equatable {
        package let month: CivilDate
        package internal(set) var events: Int64
    }

    /// The temporary table of one session with the events found: `device_at`, `occurred_at`, `batch_id`, `event_id`,
    /// `notification_key`, `fid`. After `deleteEvents` it holds those that came since, too.
    package static let table: StaticString = "pg_temp.erasure_event"

    /// Begins in a transaction of its own. Once more moves the moment forward, and takes what has come since.
    package static func begin(
        app: Int32, install: UUID, on connection: inout Connection
    ) throws(PostgresError) -> Erasure {
        try connection.transaction { connection throws(PostgresError) in
            let row = try connection.query("SELECT number, erased_at FROM log.begin_erasure(\(app), \(install))")[0]
            return Erasure(app: app, install: install, number: try row.get(0), erasedAt: try row.get(1))
        }
    }

    /// Those that were begun and did not come to their end.
    package static func unfinished(on connection: inout Connection) throws(PostgresError) -> [Erasure] {
        var erasures: [Erasure] = []
        for row in try connection.query(
            "SELECT app, install_id, number, erased_at FROM log.erasure WHERE finished_at IS NULL ORDER BY number")
        {
            erasures.append(
                Erasure(
                    app: try row.get(0), install: try row.get(1), number: try row.get(2), erasedAt: try row.get(3)))
        }
        return erasures
    }

    /// Finds all events that the log holds now. There is no index by install, so it takes as long as the log is big.
    package func findEvents(on connection: inout Connection) throws(PostgresError) -> Findings {
        // One snapshot for the position and the events.
        try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
        do {
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning;
                    SET LOCAL enable_seqscan = on;
                    DROP TABLE IF EXISTS \(Erasure.table);
                    """)
            let position: Int64 = try connection.query("SELECT coalesce(max(number), 0) FROM log.batch")[0].get(0)
            try connection.execute(
                script: """
                    CREATE TEMPORARY TABLE erasure_event AS
                    SELECT device_at, occurred_at, batch_id, event_id, notification_key, fid FROM log.opened_event
                    WHERE app = \(app) AND install_id = '\(install)'
                    """)
            // The plan of the deletion rests on how many they are.
            try connection.execute(script: "ANALYZE \(Erasure.table)")
            let events: Int64 = try connection.query("SELECT count(*) FROM \(sql: Erasure.table)")[0].get(0)
            var mentions: [Int64] = []
            for row in try connection.query(
                """
                SELECT id FROM log.rejected
                WHERE app = \(app) AND (strpos(lower(raw), \(install.description)) > 0
                    OR strpos(lower(source), \(install.description)) > 0)
                """)
            {
                mentions.append(try row.get(0))
            }
            try connection.execute(script: "COMMIT")
            return Findings(events: events, position: position, mentions: mentions)
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Deletes, within the caller's READ COMMITTED transaction, the events found and those that have come since, what was
    /// refused of the install, and its name in reports of dropped events.
    ///
    /// Writers wait for the rest of that transaction if an event lies ahead of `erasedAt`, which then moves behind it.
    package func deleteEvents(
        _ findings: Findings, on connection: inout Connection
    ) throws(PostgresError) -> Receipt {
        precondition(
            connection.isInTransaction, "events are deleted in the transaction that corrects what was made of them")
        // No month is made or dropped from here on: a statement that is planned meanwhile would miss the rows that moved.
        try connection.execute(script: "LOCK TABLE log.event IN ROW EXCLUSIVE MODE")
        var receipt = Receipt()
        for row in try connection.query(
            """
            SELECT month, sum(events)::bigint
            FROM log.erase_events(\(app), \(install), \(findings.position))
            GROUP BY month ORDER BY month
            """)
        {
            receipt.events.append(MonthCount(month: try row.get(0), events: try row.get(1)))
        }
        receipt.rejected = try connection.query(
            "DELETE FROM log.rejected WHERE (install_id = \(install) AND app = \(app)) OR id = ANY (\(findings.mentions))"
        ).affected
        receipt.clientDrops = try connection.query(
            "UPDATE log.client_drop SET install_id = NULL WHERE install_id = \(install) AND app = \(app)"
        ).affected
        return receipt
    }
}
