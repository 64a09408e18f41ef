internal import Accounts
package import Postgres
internal import Telemetry
package import Values

/// What a cell's log holds of some shards as a whole: what must be made ready in the cell that gets them, what proves
/// that a copy is complete, and how the old cell forgets them.
package struct ShardHistory {
    package let shards: [Int16]

    package init(of shards: [Int16]) { self.shards = shards.sorted() }

    /// The months that retention has closed and not removed yet.
    package static func halfRemoved(on connection: inout Connection) throws(PostgresError) -> [CivilDate] {
        try connection.query(
            """
            SELECT array_agg(month ORDER BY month) FROM log.partition WHERE closed_at IS NOT NULL AND dropped_at IS NULL
            """
        )[0]
        .optional(0) ?? []
    }

    /// Makes the new cell's monthly partitions for what will come. Returns the months that could not be made now, since
    /// somebody reads or because too many events of them are in the default partition.
    package static func makeMonths(from source: inout Connection, on target: inout Connection) throws(PostgresError)
        -> [CivilDate]
    {
        let wanted: [CivilDate] =
            try source.query("SELECT array_agg(month ORDER BY month) FROM log.partition WHERE dropped_at IS NULL")[0]
            .optional(0) ?? []
        let missing: [CivilDate] =
            try target.query(
                """
                SELECT array_agg(month ORDER BY month) FROM unnest(\(wanted)) AS m (month)
                WHERE NOT EXISTS (SELECT FROM log.partition AS p WHERE p.month = m.month)
                """)[0].optional(0) ?? []
        var left: [CivilDate] = []
        for month in missing {
            do throws(PostgresError) {
                if try target.query("SELECT log.make_partition(\(month))")[0].optional(0, as: Bool.self) == nil {
                    left.append(month)
                }
            } catch {
                guard error.state == .lockNotAvailable || error.state == .deadlockDetected else { throw error }
                left.append(month)
            }
        }
        return left
    }

    /// Tells the new cell what must stay out: what was erased or removed in the old one. Part of the caller's
    /// transaction in the new cell.
    package func bringRemovals(from source: inout Connection, on target: inout Connection) throws(PostgresError) {
        let count = Int16(try Shard.count(on: &source))
        var (apps, installs, moments): ([Int32], [UUID], [Timestamp]) = ([], [], [])
        for row in try source.query("SELECT app, install_id, erased_at FROM log.erasure ORDER BY app, install_id") {
            let install: UUID = try row.get(1)
            guard shards.contains(Shard.of(install, among: count)) else { continue }
            apps.append(try row.get(0))
            installs.append(install)
            moments.append(try row.get(2))
        }
        try target.query("SELECT cluster.take_erasures(\(apps), \(installs), \(moments))")
        let closed = try source.query(
            """
            SELECT s.shard, p.month FROM unnest(\(shards)) AS s (shard), log.partition AS p
                WHERE p.closed_at IS NOT NULL
            UNION SELECT shard, month FROM log.closed_before_move WHERE shard = ANY (\(shards))
            """)
        for row in closed {
            let (shard, month): (Int16, CivilDate) = (try row.get(0), try row.get(1))
            try target.query(
                """
                INSERT INTO log.closed_before_move (shard, month)
                SELECT \(shard), \(month) WHERE NOT EXISTS (
                    SELECT FROM log.partition WHERE month = \(month) AND closed_at IS NOT NULL)
                ON CONFLICT DO NOTHING
                """)
        }
    }

    /// Fails if somebody else has moved the shards meanwhile. Part of the caller's transaction, until whose end the map
    /// stays as it is.
    package func require(isComing: Bool, on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT cluster.require_move(\(shards), \(isComing))")
    }

    /// Those of the shards of which nothing has come to the new cell yet.
    package func unbegun(on target: inout Connection) throws(PostgresError) -> [Int16] {
        try target.query(
            """
            SELECT ARRAY(
                SELECT s FROM unnest(\(shards)) AS s
                WHERE NOT EXISTS (SELECT FROM cluster.arrival WHERE shard = s) ORDER BY s)
            """
        )[0]
        .get(0)
    }

    /// Notes in the new cell that these shards arrive there. Part of the caller's transaction.
    package func begin(from source: Int16, on target: inout Connection) throws(PostgresError) {
        try target.query(
            """
            INSERT INTO cluster.arrival (shard, source) SELECT shard, \(source)
                FROM unnest(\(shards)) AS shard ON CONFLICT DO NOTHING
            """
        )
    }

    /// Notes in the new cell that it has all events that the old one had.
    package func complete(on target: inout Connection) throws(PostgresError) {
        try target.query(
            """
            UPDATE cluster.arrival SET complete_at = (SELECT coalesce(max(number), 0) FROM log.batch)
            WHERE shard = ANY (\(shards))
            """)
    }

    /// The heads of the new cell at those moments, and which of the shards were complete then: several if moves were
    /// interrupted.
    package func completions(on target: inout Connection) throws(PostgresError) -> [(head: Int64, shards: [Int16])] {
        try target.query(
            """
            SELECT complete_at, array_agg(shard ORDER BY shard) FROM cluster.arrival
            WHERE shard = ANY (\(shards)) AND complete_at IS NOT NULL GROUP BY complete_at ORDER BY complete_at
            """
        ).map { row throws(PostgresError) in (try row.get(0), try row.get(1)) }
    }

    /// Everything that a cell holds of these shards, up to a batch, as a number of events and a digest of all that they
    /// say. It reads all of their events. Ids that each cell gives by itself are compared as the words that they stand
    /// for.
    package func content(until position: Int64, on connection: inout Connection) throws(PostgresError)
        -> SharedTable.Content
    {
        try connection.execute(
            script:
                """
                BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0;
                SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on
                """
        )
        defer { connection.rollBack() }
        return try SharedTable.Content(of: Self.said, [.init(shards), .init(position)], on: &connection)
    }

    private static let said: String = {
        func sent(_ id: String) -> String {
            "(SELECT coalesce(w.sent, '(other)') FROM log.word AS w WHERE w.id = \(id))"
        }
        func combination(_ dictionary: Combination.Dictionary, _ words: Int) -> String {
            let columns = Combination.columns(of: dictionary)
            let values = columns.enumerated().map { index, name in
                index < words ? sent("t.\(name)") : "t.\(Statement.quoted(name))::text"
            }
            return "SELECT t.id, ARRAY[\(values.joined(separator: ", "))]::text AS said FROM log.\(dictionary) AS t"
        }
        func loose(_ name: String, _ words: Int) -> String {
            """
            CASE WHEN e.rare ? '\(name)' THEN (
                SELECT string_agg(coalesce(CASE WHEN m.place <= \(words) THEN w.sent ELSE m.value END, '(other)'), ','
                    ORDER BY m.place)
                FROM jsonb_array_elements_text(e.rare -> '\(name)') WITH ORDINALITY AS m (value, place)
                LEFT JOIN log.word AS w ON w.id = m.value::integer AND m.place <= \(words)) END
            """
        }
        let (device, context) = (Combination.deviceWords.count, Combination.contextWords.count)
        let values = EventRow.columns.compactMap { column -> String? in
            switch column {
            case "batch_id": nil
            case "codes": "e.codes & -16"
            case "device": "d.said, \(loose("device", device))"
            case "context": "c.said, \(loose("context", context))"
            case "word_1", "word_2": sent("e.\(column)")
            case "received_at": "coalesce(e.received_at, b.received_at)"
            case "rare": "nullif(e.rare - 'device' - 'context', '{}')"
            default: "e.\(Statement.quoted(column))"
            }
        }
        return """
            WITH d AS MATERIALIZED (\(combination(.device, device))),
                c AS MATERIALIZED (\(combination(.context, context)))
            SELECT ROW(\(values.joined(separator: ", "))) AS said
            FROM log.event AS e JOIN log.batch AS b ON b.id = e.batch_id
            LEFT JOIN d ON d.id = e.device LEFT JOIN c ON c.id = e.context
            WHERE (e.codes >> 4 & 63)::smallint = ANY ($1) AND b.number <= $2
            """
    }()

    /// Deletes the events of shards that another cell has, some thousand at a time; calls `progress` with how many each
    /// time. An interrupted run continues when it is run again.
    package func forgetEvents(
        on connection: inout Connection, progress: (Int) throws -> Void
    ) throws {
        let begun: (last: Int64, position: Int64)? = try connection.transaction { connection throws(PostgresError) in
            let known: Int64 = try connection.query(
                """
                SELECT coalesce(min(coalesce(f.until, 0)), 0) FROM unnest(\(shards)) AS s
                    LEFT JOIN log.forgotten AS f ON f.shard = s
                """)[0].get(0)
            let last: Int64? = try connection.query("SELECT cluster.begin_forgetting(\(shards))")[0].optional(0)
            return last.map { ($0, known) }
        }
        guard let (last, first) = begun else { return }
        var position = first
        while true {
            let some = try connection.transaction {
                connection throws(PostgresError) -> (until: Int64?, events: Int64?) in
                try connection.execute(script: "SET LOCAL statement_timeout = 0")
                let row = try connection.query(
                    "SELECT until, events FROM cluster.forget_some(\(shards), \(position), \(last), 5000)")[0]
                return (try row.optional(0), try row.optional(1))
            }
            guard let until = some.until else { return }
            position = until
            try progress(Int(some.events ?? 0))
        }
    }

    /// Removes the traces of a shard's arrival, when it is settled or goes back.
    package func endArrival(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            DELETE FROM cluster.arrival AS a USING cluster.map AS m, cluster.state AS s
            WHERE a.shard = ANY (\(shards)) AND m.shard = a.shard AND m.arriving IS DISTINCT FROM s.cell
            """)
    }

    /// Removes what the cell knew only because it had these shards.
    package func forgetClosures(on connection: inout Connection) throws(PostgresError) {
        try connection.transaction { connection throws(PostgresError) in
            try connection.query("DELETE FROM log.closed_before_move WHERE shard = ANY (\(shards))")
            try require(isComing: false, on: &connection)
        }
    }

    /// The last batch of a cell.
    package static func lastBatch(on connection: inout Connection) throws(PostgresError) -> Int64 {
        try connection.query("SELECT coalesce(max(number), 0) FROM log.batch")[0].get(0)
    }

    /// Those of the shards of which the cell has events that it was never told to forget.
    package func present(on connection: inout Connection) throws(PostgresError) -> [Int16] {
        try connection.query(
            """
            SELECT coalesce(array_agg(DISTINCT s ORDER BY s), '{}')
            FROM log.batch_expected AS b CROSS JOIN unnest(\(shards)) AS s LEFT JOIN log.forgotten AS f ON f.shard = s
            WHERE b.shard_events[s + 1] > 0 AND b.number > coalesce(f.until, 0)
            """)[0].get(0)
    }

    /// Installs of the shards whose erasure was begun and is not finished.
    package func unfinishedErasures(on connection: inout Connection) throws(PostgresError) -> [Erasure] {
        let count = try Shard.count(on: &connection)
        return try Erasure.unfinished(on: &connection).filter { shards.contains(Shard.of($0.install, among: count)) }
    }

    /// Installs that are erased, and of which events from before that moment are there: copied before the old cell had
    /// erased them. It reads all events of the shards.
    package func halfErased(on connection: inout Connection) throws(PostgresError) -> [(app: Int32, install: UUID)] {
        let rows = try connection.transaction { connection throws(PostgresError) in
            // Found by sorting, since the installs that clients choose may all have one hash.
            try connection.execute(
                script: "SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashagg = off"
            )
            let scatter = Scatter()
            return try connection.query(
                """
                SELECT DISTINCT e.app, e.install_id FROM log.event AS e
                JOIN log.erasure AS x
                    ON \(scatter.isSameInstall("e", "x")) AND x.install_id = e.install_id AND x.app = e.app
                WHERE (e.codes >> 4 & 63)::smallint = ANY (\(shards))
                    AND coalesce(e.occurred_at, e.device_at) < x.erased_at
                ORDER BY 1, 2
                """)
        }
        return try rows.map { row throws(PostgresError) in (try row.get(0), try row.get(1)) }
    }
}
