import Postgres
import Projections
import Telemetry
import TestSupport
import Values

/// Projection tables that a test fills by hand, row by row and partition by partition. Partition 0 is what retention
/// sealed, 1 the live generation's; a second generation, partition 2, is still being built.
extension TestApp {
    /// The id of a word, learned now if need be.
    func word(_ kind: WordKind, _ value: String) throws -> Int {
        let word: Int32 = try database.value(
            "SELECT id FROM log.learn_words(\(id), \(kind.rawValue), \([value]), '{1}', \([UUID.random()]), 1000, 1000, 1000)"
        )
        return Int(word)
    }

    /// Puts a row into a table. What is not named is 0, or null where that may be; `state` and the times must be.
    func insert(
        _ table: String, generation: Int = 1, shard: Int = 0, day: String = "2026-11-20", _ values: [String: Int] = [:],
        texts: [String: String] = [:]
    ) throws {
        var given = values.mapValues { String($0) }
        if table == "delivery" {
            let codes = DeliveryTable.layout.packed.map { name, bit in (values[name] ?? 0) * Int(bit) }
            given["codes"] = String(codes.reduce(0, +))
        }
        for (column, text) in texts { given[column] = "'\(text)'" }
        given["generation"] = String(generation)
        given["shard"] = String(shard)
        given["app"] = String(id)
        given["day"] = "'\(day)'"
        let columns: [String] = try database.column(
            """
            SELECT attname FROM pg_attribute
            WHERE attrelid = ('projection.' || \(table))::regclass AND attnum > 0
                AND (attnotnull OR attname = ANY (\(Array(given.keys))))
            """)
        let row = columns.map { given[$0] ?? "0" }.joined(separator: ", ")
        try database.run(
            "INSERT INTO projection.\(table) (\(columns.map { "\"\($0)\"" }.joined(separator: ", "))) VALUES (\(row))")
    }

    /// The same row in the sealed partition, in two shards of the live one and in that of the generation which is not
    /// live: `values` times 100, 10, 1 and 7,000. So a reader has to see each number 111 times.
    func insertEverywhere(_ table: String, _ values: [String: Int], key: [String: Int] = [:]) throws {
        for (generation, shard, times) in [(0, 3, 100), (1, 3, 10), (1, 5, 1), (2, 3, 7_000)] {
            try insert(
                table, generation: generation, shard: shard, values.mapValues { $0 * times }.merging(key) { $1 })
        }
    }
}

extension TestDatabase {
    /// A second generation with its partition of every table.
    func makeSecondLine() throws {
        try run(
            """
            INSERT INTO projection.generation (id, state) VALUES (2, 'building');
            INSERT INTO projection.projector (generation, name, version, tables_generation)
            SELECT 2, name, version, 2 FROM projection.projector WHERE generation = 1;
            SELECT projection.make_table(relname, 2) FROM pg_class
            WHERE relnamespace = 'projection'::regnamespace AND relkind = 'p';
            """)
    }

    /// The columns of a view in their order, each with its type: `day:date`.
    func columns(of view: String) throws -> [String] {
        try column(
            """
            SELECT attname || ':' || format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = ('analytics.' || \(view))::regclass AND attnum > 0 ORDER BY attnum
            """)
    }

    /// What PostgreSQL did for a query, line by line. It had to use keys: a table of four rows it would else read as a
    /// whole.
    func plan(of query: String) throws -> [String] {
        var connection = try connect()
        try connection.execute(script: "SET enable_seqscan = off")
        let explain: String = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) \(query)"
        return try connection.query(Statement(explain, [])).map { try $0.get(0) }
    }
}
