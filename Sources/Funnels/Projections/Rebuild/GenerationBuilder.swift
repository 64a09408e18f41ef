internal import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// Builds, swaps and drops generations. It works as the owner, since it creates and drops tables.
enum GenerationBuilder {
    /// Returns the unfinished generation if it is for exactly these projectors, or a new one. An unfinished one for
    /// other projectors, by another version of this program, or under other words, is given up.
    static func begin(_ projectors: [any Projector.Type], on connection: inout Connection) throws(PostgresError)
        -> Int32
    {
        try connection.transaction { connection throws(PostgresError) in
            try connection.query("LOCK TABLE projection.generation IN SHARE ROW EXCLUSIVE MODE")
            let wanted = ([(DeliveryTable.projector, DeliveryTable.version)] + projectors.map { ($0.name, $0.version) })
                .map { "\($0.0) \($0.1)" }
            let rows = try connection.query(
                """
                SELECT l.id, array_agg(p.name || ' ' || p.version) AS names, bool_or(p.stopped_at IS NOT NULL) AS is_stopped
                FROM projection.generation AS l JOIN projection.projector AS p ON p.generation = l.id
                WHERE l.state = 'building' AND l.words = (SELECT words FROM log.head) GROUP BY l.id
                """)
            for row in rows {
                let names: [String] = try row.get("names")
                if Set(names) == Set(wanted), try !row.get("is_stopped", as: Bool.self) { return try row.get("id") }
            }
            try retireUnfinished(on: &connection)
            let generation = try make(projectors, on: &connection)
            CrashPoint.pass("generation made")
            return generation
        }
    }

    private static func make(
        _ projectors: [any Projector.Type], on connection: inout Connection
    ) throws(PostgresError) -> Int32 {
        let generation: Int32 = try connection.query(
            """
            INSERT INTO projection.generation (id, state, words)
            SELECT 1 + greatest((SELECT max(id) FROM projection.generation), (SELECT max(tables_generation) FROM projection.projector)), 'building', h.words
            FROM log.head AS h
            RETURNING id
            """
        ).value()
        try connection.query(
            """
            INSERT INTO projection.progress (generation, shard, goal_apps)
            SELECT \(generation), s.shard, coalesce(
                (SELECT p.goal_apps FROM projection.progress AS p
                WHERE p.generation = projection.chosen_generation(NULL) AND p.shard = s.shard), '{}')
            FROM log.head AS h, generate_series(0, h.shards - 1) AS s (shard)
            """
        )
        let members =
            [(DeliveryTable.projector, DeliveryTable.version, DeliveryTable.parents)]
            + projectors.map { ($0.name, $0.version, $0.tables.map(\.name)) }
        for (name, version, parents) in members {
            for parent in parents { try connection.query("SELECT projection.make_table(\(parent), \(generation))") }
            try connection.query(
                """
                INSERT INTO projection.projector (generation, name, version, tables_generation)
                VALUES (\(generation), \(name), \(version), \(generation))
                """
            )
        }
        return generation
    }

    /// Gives up unfinished generations, because history has changed.
    static func retireUnfinished(on connection: inout Connection) throws(PostgresError) {
        // No analyst has ever read them.
        try connection.query(
            "UPDATE projection.generation SET state = 'retired', readers = '{}' WHERE state = 'building'")
    }

    /// Gives up this generation if it is unfinished.
    static func retire(_ generation: Int32, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            "UPDATE projection.generation SET state = 'retired', readers = '{}' WHERE id = \(generation) AND state = 'building'"
        )
    }

    /// Prevents generations from being begun or swapped until the transaction ends. Call it before locking shards of
    /// the live generation: if a swap happened while we waited for the shards, we would lock those of a generation that
    /// is no longer live.
    static func holdGenerations(on connection: inout Connection) throws(PostgresError) {
        // It changes no row, but locks the table.
        try connection.query("UPDATE projection.generation SET state = state WHERE false")
    }

    /// Swaps a generation with the live one, or only its projectors' tables, at one position of the log and in one
    /// transaction, so that no reader sees a number go back. What was live is kept as a retired generation.
    static func swap(
        _ generation: Int32, all: Bool, of projectors: [any Projector.Type], on connection: inout Connection
    ) throws(StepError) {
        try connection.atomically { connection in
            try connection.query("LOCK TABLE projection.generation IN SHARE ROW EXCLUSIVE MODE")
            guard try isBuilding(generation, on: &connection) else { throw StepError.generationIsGone }
            // The new funnels have the days of the present zones, and the live deliveries would not.
            if !all, !(try ZoneChange.pending(.recorded, on: &connection).isEmpty) {
                throw StepError.generationIsGone
            }
            let live: Int32 = try connection.query("SELECT id FROM projection.generation WHERE state = 'live'").value()
            let rows = try connection.query(
                """
                SELECT position FROM projection.progress WHERE generation IN (\(live), \(generation))
                ORDER BY generation, shard FOR UPDATE
                """)
            let furthest = try rows.values(as: Int64.self).max() ?? 0
            try level(.building(generation), of: projectors, at: furthest, on: &connection)
            if !all { try level(.live, of: projectors, at: furthest, on: &connection) }
            CrashPoint.pass("side by side")
            try exchange(generation, with: live, all: all, on: &connection)
            CrashPoint.pass("exchanged")
        }
    }

    /// Whether it can still become live: nobody gave it up, and no word was merged or pruned since it was made.
    static func isBuilding(_ generation: Int32, on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM projection.generation AS l JOIN log.head AS h ON h.words = l.words
                WHERE l.id = \(generation) AND l.state = 'building')
            """
        ).value()
    }

    /// Moves all shards of a generation to a position, within the present transaction.
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
        _ generation: Int32, with live: Int32, all: Bool, on connection: inout Connection
    ) throws(PostgresError) {
        if all {
            try connection.query("UPDATE projection.generation SET state = 'retired' WHERE id = \(live)")
            try connection.query("UPDATE projection.generation SET state = 'live' WHERE id = \(generation)")
            return
        }
        // The two generations exchange the tables of these projectors, and stopped ones run again. A projector that the
        // live generation did not have joins it.
        try connection.query(
            """
            WITH fresh AS (
                SELECT name, version, tables_generation FROM projection.projector
                WHERE generation = \(generation) AND name <> \(DeliveryTable.projector)
            ), old AS (
                UPDATE projection.projector AS p SET tables_generation = o.tables_generation, version = o.version
                FROM projection.projector AS o
                WHERE p.generation = \(generation) AND o.generation = \(live) AND o.name = p.name AND p.name <> \(DeliveryTable.projector)
            ), joined AS (
                DELETE FROM projection.projector AS p
                WHERE p.generation = \(generation) AND p.name <> \(DeliveryTable.projector)
                    AND NOT EXISTS (SELECT FROM projection.projector AS o WHERE o.generation = \(live) AND o.name = p.name)
            )
            INSERT INTO projection.projector (generation, name, version, tables_generation)
            SELECT \(live), name, version, tables_generation FROM fresh
            ON CONFLICT (generation, name) DO UPDATE
            SET version = excluded.version, tables_generation = excluded.tables_generation,
                stopped_at = NULL, stopped_batch = NULL, stopped_because = NULL
            """)
        try connection.query("UPDATE projection.generation SET state = 'retired' WHERE id = \(generation)")
    }
}
