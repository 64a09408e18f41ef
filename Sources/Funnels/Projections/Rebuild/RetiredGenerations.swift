internal import Postgres
internal import ServiceRuntime

/// Drops the tables of retired generations that nobody reads any more.
///
/// A dropped table is gone from every snapshot, even from those taken while it was live: an analyst's transaction would
/// find it empty. So the tables are kept until all transactions have ended that were open when the generation was
/// retired.
enum RetiredGenerations {
    /// Drops their tables, and leaves those that somebody may still read for the next time. Returns for how many
    /// projectors it left them.
    static func drop(
        _ projectors: [any Projector.Type] = Projectors.all, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        try noteReaders(on: &connection)
        // Mostly we wait for our own steps and writers, which end soon.
        var deadline = Deadline.after(seconds: patience)
        while try isRead(on: &connection), !deadline.hasPassed { try connection.query("SELECT pg_sleep(0.02)") }
        let rows = try connection.query(
            """
            SELECT p.generation, p.name, p.tables_generation, l.readers && \(sql: open) AS is_read
            FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE l.state = 'retired' ORDER BY p.generation, p.name
            """)
        var left = 0
        deadline = .after(seconds: patience)
        for row in rows {
            let isRead: Bool = try row.get("is_read")
            var isGone = isRead ? false : try drop(row, of: projectors, on: &connection)
            // Readers of the new tables also hold the lock, for as long as they read.
            while !isRead, !isGone, !deadline.hasPassed { isGone = try drop(row, of: projectors, on: &connection) }
            if !isGone { left += 1 }
        }
        try connection.query(
            """
            DELETE FROM projection.generation AS l WHERE state = 'retired'
                AND NOT EXISTS (SELECT FROM projection.projector AS p WHERE p.generation = l.id)
            """)
        return left
    }

    /// The longest wait for readers.
    private static let patience = 2.0

    /// The other open transactions in this database. Everybody may see these columns. Autovacuum, which has no user,
    /// reads no funnel, and neither does the session that only holds the turn of a rebuild.
    private static let open: StaticString = """
        ARRAY(
            SELECT l.virtualtransaction FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
            WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()
                AND a.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND a.usesysid IS NOT NULL
                AND NOT EXISTS (
                    SELECT FROM pg_locks AS turn
                    WHERE turn.pid = l.pid AND turn.database = a.datid AND turn.relation = 'projection.renewal'::regclass
                        AND turn.mode = 'ShareUpdateExclusiveLock' AND turn.granted))
        """

    /// Records, once for each generation, who may still read it. The generation is retired already, so new transactions
    /// see that.
    private static func noteReaders(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            "UPDATE projection.generation SET readers = \(sql: open) WHERE state = 'retired' AND readers IS NULL")
    }

    private static func isRead(on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            "SELECT EXISTS (SELECT FROM projection.generation WHERE state = 'retired' AND readers && \(sql: open))"
        ).value()
    }

    /// Drops the tables of a row (generation, projector, number of its tables); returns false if somebody reads them.
    private static func drop(
        _ row: Rows.Row, of projectors: [any Projector.Type], on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        let (generation, name): (Int32, String) = (try row.get("generation"), try row.get("name"))
        let number: Int32 = try row.get("tables_generation")
        let parents =
            name == DeliveryTable.projector
            ? DeliveryTable.parents : projectors.first { $0.name == name }?.tables.map(\.name) ?? []
        do {
            try connection.transaction { connection throws(PostgresError) in
                try connection.query("SET LOCAL lock_timeout = '200ms'")
                // If two sessions drop one partition at once, PostgreSQL may fail to find its parent. So the second one
                // waits for this row, and finds it gone.
                let own = try connection.query(
                    "SELECT FROM projection.projector WHERE generation = \(generation) AND name = \(name) FOR UPDATE")
                guard own.count > 0 else { return }
                for parent in parents {
                    try connection.query("DROP TABLE IF EXISTS projection.\(identifier: "\(parent)_\(number)")")
                }
                if name == DeliveryTable.projector {
                    try connection.query("DELETE FROM projection.day_revision WHERE generation = \(generation)")
                }
                try connection.query(
                    "DELETE FROM projection.projector WHERE generation = \(generation) AND name = \(name)")
                CrashPoint.pass("dropping")
            }
            CrashPoint.pass("dropped")
            return true
        } catch {
            guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
            return false
        }
    }
}
