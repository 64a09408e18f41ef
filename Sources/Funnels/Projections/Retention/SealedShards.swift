internal import EventLog
package import Postgres

/// What retention has sealed of some shards. It cannot be counted again, so it moves with the shards as it is; words
/// get the ids of the new cell.
package struct SealedShards {
    package let shards: [Int16]

    package init(_ shards: [Int16]) { self.shards = shards.sorted() }

    private static let tables = Projectors.all.flatMap { $0.tables }
    private var isOurs: String { "shard IN (\(shards.map { "\($0)" }.joined(separator: ", ")))" }

    /// The tables of what no longer counts, with their columns.
    private static let remembered = [
        "sealed_delivery": ["first_device_at", "last_device_at", "install_id", "app", "shard", "notification_key"],
        "sealed_install_day": [
            "from_at", "to_at", "first_device_at", "last_device_at", "install_id", "app", "shard",
        ],
        "sealed_goal": ["first_device_at", "last_device_at", "event_id", "install_id", "app", "shard", "rules"],
    ]
    /// The most rows that are held in memory at once, about.
    private static let mostRows: Int64 = 50_000

    /// Copies it to another cell, whose temporary tables a `ShardCopy` has made. Part of the caller's transaction
    /// there.
    package func bring(from source: inout Connection, on target: inout Connection) throws(PostgresError) {
        for table in Self.tables {
            let days: String =
                "SELECT DISTINCT day::text FROM projection.\(table.name) WHERE generation = 0 AND \(isOurs) ORDER BY 1"
            for day in try source.query(Statement(days)).values(as: String.self) {
                try bring(table, of: day, from: &source, on: &target)
            }
        }
        for (table, columns) in Self.remembered.sorted(by: { $0.key < $1.key }) {
            let question: String = "SELECT count(*) FROM projection.\(table) WHERE \(isOurs)"
            let count: Int64 = try source.query(Statement(question)).value()
            guard count > 0 else { continue }
            let list = columns.joined(separator: ", ")
            try target.execute(
                script:
                    "CREATE TEMPORARY TABLE brought ON COMMIT DROP AS SELECT \(list) FROM projection.\(table) WHERE false"
            )
            // By what rows keep. By ids alone, clients could choose many that are in one part.
            let (kept, scatter) = (columns.filter { !$0.hasSuffix("_device_at") }, Scatter())
            let parts = count / Self.mostRows + 1
            for part in 0..<parts {
                try source.relay(
                    """
                    SELECT \(list) FROM projection.\(table)
                    WHERE \(isOurs) AND \(scatter.part(kept, of: parts)) = \(part)
                    """, to: "pg_temp.brought", columns, of: &target)
                try target.execute(
                    script: """
                        INSERT INTO projection.\(table) (\(list)) SELECT \(list) FROM pg_temp.brought ON CONFLICT DO NOTHING;
                        DELETE FROM pg_temp.brought
                        """)
            }
            try target.execute(script: "DROP TABLE pg_temp.brought")
        }
    }

    private func bring(
        _ table: TallyTable, of day: String, from source: inout Connection, on target: inout Connection
    ) throws(PostgresError) {
        let keys = ["app", "day"] + table.keys.map(\.name) + ["shard"]
        let columns = keys + table.counts
        let list = columns.joined(separator: ", ")
        try target.execute(
            script:
                "CREATE TEMPORARY TABLE brought ON COMMIT DROP AS SELECT \(list) FROM projection.\(table.name) WHERE false"
        )
        try source.relay(
            "SELECT \(list) FROM projection.\(table.name) WHERE generation = 0 AND day = '\(day)' AND \(isOurs)",
            to: "pg_temp.brought", columns, of: &target)
        let words = table.words
        if !words.isEmpty {
            try ShardCopy.bringWords(
                words.map { "SELECT \($0) AS id FROM pg_temp.brought" }.joined(separator: " UNION "), from: &source,
                on: &target)
        }
        let values = keys.map { key in
            words.contains(key)
                ? "coalesce((SELECT m.new FROM pg_temp.word_map AS m WHERE m.old = b.\(key)), 0)" : "b.\(key)"
        }
        let counts = table.counts.map { "sum(b.\($0))" }
        try target.execute(
            script: """
                INSERT INTO projection.\(table.name) (generation, \(list))
                SELECT 0, \((values + counts).joined(separator: ", ")) FROM pg_temp.brought AS b
                GROUP BY \((1...keys.count).map { "\($0 + 1)" }.joined(separator: ", "));
                DROP TABLE pg_temp.brought
                """)
    }

    /// What a cell holds of it, by words, to be compared with another cell.
    package func content(on connection: inout Connection) throws(PostgresError) -> [String: SharedTable.Content] {
        var contents: [String: SharedTable.Content] = [:]
        for table in Self.tables {
            let keys = table.keys.map { key in
                if case .word = key.kind {
                    "CASE WHEN t.\(key.name) > 0 THEN (SELECT coalesce(w.sent, '(other)') FROM log.word AS w WHERE w.id = t.\(key.name)) END"
                } else {
                    "t.\(key.name)"
                }
            }
            let values = (["t.app", "t.day", "t.shard"] + keys).joined(separator: ", ")
            contents[table.name] = try SharedTable.Content(
                of: """
                    SELECT ROW(\(values), \(table.counts.map { "sum(t.\($0))" }.joined(separator: ", "))) AS said
                    FROM projection.\(table.name) AS t WHERE t.generation = 0 AND t.\(isOurs) GROUP BY \(values)
                    """, on: &connection)
        }
        for (table, columns) in Self.remembered {
            // Steps lengthen the span of a delivery's or day's events.
            let lasting = columns.filter { !$0.hasSuffix("_device_at") }
            contents[table] = try SharedTable.Content(
                of: "SELECT ROW(\(lasting.joined(separator: ", "))) AS said FROM projection.\(table) WHERE \(isOurs)",
                on: &connection)
        }
        return contents
    }
}

extension SealedShards {
    /// Removes everything that the projections of a cell hold of these shards, sealed or not, in one transaction. The
    /// cell's log has no event of them any more.
    package func remove(on connection: inout Connection) throws {
        try connection.atomically { connection in
            try connection.execute(script: "SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on")
            // An unfinished generation may have read events that are gone.
            try GenerationBuilder.retireUnfinished(on: &connection)
            guard let lane = try Lane.lock(shards, of: .live, on: &connection) else { throw StepError.generationIsGone }
            let tables =
                DeliveryTable.parents.map { ($0, DeliveryTable.projector) }
                + Projectors.all.flatMap { projector in projector.tables.map { ($0.name, projector.name) } }
            for (table, projector) in tables {
                let numbers = lane.members.filter { $0.name == projector }.map { "\($0.tablesGeneration)" } + ["0"]
                try connection.execute(
                    script:
                        "DELETE FROM projection.\(table) WHERE generation IN (\(numbers.joined(separator: ", "))) AND \(isOurs)"
                )
            }
            for table in Self.remembered.keys.sorted() {
                try connection.execute(script: "DELETE FROM projection.\(table) WHERE \(isOurs)")
            }
            try connection.execute(script: "UPDATE projection.progress SET goal_apps = '{}' WHERE \(isOurs)")
            try ShardHistory(of: shards).require(isComing: false, on: &connection)
            try KeptDays.dropAll(on: &connection)
        }
    }
}
