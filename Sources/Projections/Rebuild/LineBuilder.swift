internal import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// Makes, swaps and drops lines. It works as the owner, since tables are made and dropped.
enum LineBuilder {
    /// The line that is being built for just these projectors, or a new one. One that was begun for others, or by another
    /// version of this program, is given up.
    static func begin(_ projectors: [any Projector.Type], on connection: inout Connection) throws(PostgresError)
        -> Int32
    {
        try connection.transaction { connection throws(PostgresError) in
            try connection.query("LOCK TABLE projection.line IN SHARE ROW EXCLUSIVE MODE")
            let wanted = ([(DeliveryTable.projector, DeliveryTable.version)] + projectors.map { ($0.name, $0.version) })
                .map { "\($0.0) \($0.1)" }
            let rows = try connection.query(
                """
                SELECT l.id, array_agg(p.name || ' ' || p.version), bool_or(p.stopped_at IS NOT NULL)
                FROM projection.line AS l JOIN projection.projector AS p ON p.line = l.id
                WHERE l.state = 'building' GROUP BY l.id
                """)
            for row in rows {
                let names: [String] = try row.get(1)
                if Set(names) == Set(wanted), try !row.get(2, as: Bool.self) { return try row.get(0) }
            }
            try retireUnfinished(on: &connection)
            let line = try make(projectors, on: &connection)
            CrashPoint.pass("line made")
            return line
        }
    }

    private static func make(
        _ projectors: [any Projector.Type], on connection: inout Connection
    ) throws(PostgresError) -> Int32 {
        let line: Int32 = try connection.query(
            """
            INSERT INTO projection.line (id, state)
            SELECT 1 + greatest((SELECT max(id) FROM projection.line), (SELECT max(tables) FROM projection.projector)), 'building'
            RETURNING id
            """)[0].get(0)
        try connection.query(
            """
            INSERT INTO projection.progress (line, shard)
            SELECT \(line), shard FROM log.head AS h, generate_series(0, h.shards - 1) AS shard
            """
        )
        let members =
            [(DeliveryTable.projector, DeliveryTable.version, [DeliveryTable.parent])]
            + projectors.map { ($0.name, $0.version, $0.tables.map(\.name)) }
        for (name, version, parents) in members {
            for parent in parents { try connection.query("SELECT projection.make_table(\(parent), \(line))") }
            try connection.query(
                "INSERT INTO projection.projector (line, name, version, tables) VALUES (\(line), \(name), \(version), \(line))"
            )
        }
        return line
    }

    /// Gives up what is being built: history has changed beneath it.
    static func retireUnfinished(on connection: inout Connection) throws(PostgresError) {
        // No analyst has ever read of it.
        try connection.query("UPDATE projection.line SET state = 'retired', readers = '{}' WHERE state = 'building'")
    }

    /// Gives up this line, if it is still being built.
    static func retire(_ line: Int32, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            "UPDATE projection.line SET state = 'retired', readers = '{}' WHERE id = \(line) AND state = 'building'")
    }

    /// No line is begun or changes places until the transaction ends. Before shards of the live line are locked: whoever
    /// waited for them behind a swap would hold those of a line that is no longer live.
    static func holdLines(on connection: inout Connection) throws(PostgresError) {
        // That it changes no row does not matter to its lock on the table.
        try connection.query("UPDATE projection.line SET state = state WHERE false")
    }

    /// Puts a line in the place of the live one, or its projectors in the place of theirs: at one position of the log and
    /// in one moment, so that no reader sees a number go back. What was live is kept as a retired line.
    static func swap(
        _ line: Int32, all: Bool, of projectors: [any Projector.Type], on connection: inout Connection
    ) throws(StepError) {
        try connection.atomically { connection in
            try connection.query("LOCK TABLE projection.line IN SHARE ROW EXCLUSIVE MODE")
            guard try isBuilding(line, on: &connection) else { throw StepError.lineIsGone }
            // The new tables stand on days of the present zones, and the deliveries under them would not.
            if !all, !(try ZoneChange.pending(byRules: false, on: &connection).isEmpty) { throw StepError.lineIsGone }
            let live: Int32 = try connection.query("SELECT id FROM projection.line WHERE state = 'live'")[0].get(0)
            let rows = try connection.query(
                """
                SELECT position FROM projection.progress WHERE line IN (\(live), \(line))
                ORDER BY line, shard FOR UPDATE
                """)
            let furthest = try rows.map { row in try row.get(0, as: Int64.self) }.max() ?? 0
            try level(.building(line), of: projectors, at: furthest, on: &connection)
            if !all { try level(.live, of: projectors, at: furthest, on: &connection) }
            CrashPoint.pass("side by side")
            try exchange(line, with: live, all: all, on: &connection)
            CrashPoint.pass("exchanged")
        }
    }

    static func isBuilding(_ line: Int32, on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query("SELECT EXISTS (SELECT FROM projection.line WHERE id = \(line) AND state = 'building')")[0]
            .get(0)
    }

    /// Brings all shards of a line to a position, within the present transaction.
    private static func level(
        _ choice: Lane.Choice, of projectors: [any Projector.Type], at position: Int64, on connection: inout Connection
    ) throws {
        let step = Step(
            choice: choice, projectors: projectors, last: position, mostShards: Int32(Shard.most), mostEvents: 20_000)
        while try step.take(within: &connection) != nil {}
        guard let reached = try Backlog.read(choice, on: &connection).position, reached >= position else {
            throw StepError.stopped
        }
    }

    private static func exchange(
        _ line: Int32, with live: Int32, all: Bool, on connection: inout Connection
    ) throws(PostgresError) {
        if all {
            try connection.query("UPDATE projection.line SET state = 'retired' WHERE id = \(live)")
            try connection.query("UPDATE projection.line SET state = 'live' WHERE id = \(line)")
            return
        }
        // Each takes the tables of the other; what stopped the old ones is past. One that the live line did not have joins it.
        try connection.query(
            """
            WITH fresh AS (
                SELECT name, version, tables FROM projection.projector
                WHERE line = \(line) AND name <> \(DeliveryTable.projector)
            ), old AS (
                UPDATE projection.projector AS p SET tables = o.tables, version = o.version
                FROM projection.projector AS o
                WHERE p.line = \(line) AND o.line = \(live) AND o.name = p.name AND p.name <> \(DeliveryTable.projector)
            ), joined AS (
                DELETE FROM projection.projector AS p
                WHERE p.line = \(line) AND p.name <> \(DeliveryTable.projector)
                    AND NOT EXISTS (SELECT FROM projection.projector AS o WHERE o.line = \(live) AND o.name = p.name)
            )
            INSERT INTO projection.projector (line, name, version, tables)
            SELECT \(live), name, version, tables FROM fresh
            ON CONFLICT (line, name) DO UPDATE SET version = excluded.version, tables = excluded.tables,
                stopped_at = NULL, stopped_batch = NULL, stopped_because = NULL
            """)
        try connection.query("UPDATE projection.line SET state = 'retired' WHERE id = \(line)")
    }
}
