package import Postgres
internal import Telemetry
package import Values

/// Removes one install from the log, in this order: `begin`, after which no node accepts earlier events of it;
/// `findEvents`, which reads the whole log and blocks nobody; `deleteEvents`, in the transaction that also corrects the
/// funnels. An interrupted erasure is begun again.
///
/// Needs the owner, and one connection for all of it.
package struct Erasure: Sendable, Equatable {
    package let app: Int32
    package let install: UUID
    /// Its number among the batches of the log.
    package let number: Int64
    /// Events of this install from before this moment are rejected from now on.
    package let erasedAt: Timestamp

    /// The events found, which are in `Erasure.table`.
    package struct Findings: Sendable, Equatable {
        package let events: Int64
        /// The position of the log up to which all events were found.
        package let position: Int64
        /// Rejected events of the install, and those of any sender whose text contains its id.
        package let mentions: [Int64]
    }

    /// What was deleted.
    package struct Deletion: Sendable, Equatable {
        /// By month of the device's clock, the oldest first.
        package internal(set) var events: [MonthCount] = []
        package internal(set) var rejected = 0
        /// Reports of dropped events that no longer name the install.
        package internal(set) var clientDrops = 0

        package var total: Int64 { events.reduce(0) { $0 + $1.events } }
    }

    /// How much of an install was removed.
    package struct Counts: Sendable, Equatable {
        package let events: Int64
        package let deliveries: Int64
        package let rejected: Int64
        package let clientDrops: Int64

        package init(events: Int64, deliveries: Int64, rejected: Int64, clientDrops: Int64) {
            (self.events, self.deliveries, self.rejected, self.clientDrops) = (
                events, deliveries, rejected, clientDrops
            )
        }

        package var isZero: Bool { events == 0 && deliveries == 0 && rejected == 0 && clientDrops == 0 }
    }

    /// The number of events in a month.
    package struct MonthCount: Sendable, Equatable {
        package let month: CivilDate
        package internal(set) var events: Int64
    }

    /// A temporary table with the events found: `device_at`, `occurred_at`, `batch_id`, `event_id`, `notification_key`,
    /// `fid`. After `deleteEvents` it also has the events that arrived since.
    package static let table: StaticString = "pg_temp.erasure_event"

    /// Begins in its own transaction. Calling it again moves the moment forward, so that the erasure includes what
    /// arrived since.
    package static func begin(
        app: Int32, install: UUID, on connection: inout Connection
    ) throws(PostgresError) -> Erasure {
        try connection.transaction { connection throws(PostgresError) in
            let row = try connection.query("SELECT number, erased_at FROM log.begin_erasure(\(app), \(install))")[0]
            return Erasure(app: app, install: install, number: try row.get(0), erasedAt: try row.get(1))
        }
    }

    /// Erasures that were begun and not finished.
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

    /// Finds all events that the log has now. There is no index by install, so the time depends on the size of the log.
    package func findEvents(on connection: inout Connection) throws(PostgresError) -> Findings {
        // One snapshot for the position and the events.
        try connection.transaction(.repeatableRead) { connection throws(PostgresError) in
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
            // The plan of the deletion needs to know how many they are.
            try connection.execute(script: "ANALYZE \(Erasure.table)")
            let events: Int64 = try connection.query("SELECT count(*) FROM \(sql: Erasure.table)")[0].get(0)
            var mentions: [Int64] = []
            let condition = Self.condition(ofRejected: "r", app: app, install: install)
            let mentioned: String = "SELECT r.id FROM log.rejected AS r WHERE \(condition)"
            for row in try connection.query(Statement(mentioned)) {
                mentions.append(try row.get(0))
            }
            return Findings(events: events, position: position, mentions: mentions)
        }
    }

    /// SQL that finds the rejected events of an install in `log.rejected`: its own, and those of any sender whose text
    /// names it.
    package static func condition(ofRejected row: StaticString, app: Int32, install: UUID) -> String {
        """
        \(row).app = \(app) AND (\(row).install_id = '\(install)' OR strpos(lower(\(row).raw), '\(install)') > 0
            OR strpos(lower(\(row).source), '\(install)') > 0)
        """
    }

    /// Deletes, in the caller's READ COMMITTED transaction, the events found and those that arrived since, the rejected
    /// events of the install, its id in reports of dropped events, and what tells which words it brought.
    ///
    /// If an event is later than `erasedAt`, this moves `erasedAt` past it, and writers wait until the transaction
    /// ends.
    package func deleteEvents(
        _ findings: Findings, on connection: inout Connection
    ) throws(PostgresError) -> Deletion {
        precondition(
            connection.isInTransaction, "events are deleted in the transaction that corrects what was made of them")
        // From here on no month is created or dropped: a statement planned meanwhile would miss the rows that moved.
        try connection.execute(script: "LOCK TABLE log.event IN ROW EXCLUSIVE MODE")
        var deletion = Deletion()
        for row in try connection.query(
            """
            SELECT month, sum(events)::bigint
            FROM log.erase_events(\(app), \(install), \(findings.position))
            GROUP BY month ORDER BY month
            """)
        {
            deletion.events.append(MonthCount(month: try row.get(0), events: try row.get(1)))
        }
        deletion.rejected = try connection.query(
            """
            DELETE FROM log.rejected WHERE (install_id = \(install) AND app = \(app)) OR id = ANY (\(findings.mentions))
            """
        ).affected
        deletion.clientDrops = try connection.query(
            "UPDATE log.client_drop SET install_id = NULL WHERE install_id = \(install) AND app = \(app)"
        ).affected
        try connection.query(
            """
            UPDATE log.word SET install_hash = NULL WHERE app = \(app) AND install_hash = uuid_hash(\(install)::uuid)
            """)
        return deletion
    }

    /// Adds what was removed, in the same transaction, to what was removed of the install before in this database, and
    /// returns the sum.
    package func add(_ counts: Counts, on connection: inout Connection) throws(PostgresError) -> Counts {
        let row = try connection.query(
            """
            UPDATE log.erasure SET events = events + \(counts.events), deliveries = deliveries + \(counts.deliveries),
                rejected = rejected + \(counts.rejected), client_drops = client_drops + \(counts.clientDrops)
            WHERE app = \(app) AND install_id = \(install) RETURNING events, deliveries, rejected, client_drops
            """)[0]
        return Counts(
            events: try row.get(0), deliveries: try row.get(1), rejected: try row.get(2), clientDrops: try row.get(3))
    }
}
