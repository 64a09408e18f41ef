package import Postgres

/// Copies the events of some shards from the log of one cell to that of another, in the order in which they were
/// committed. Each step stores the events of some batches as one batch, with the position up to which they came, so an
/// interrupted copy continues where it was.
///
/// Words, devices and contexts get the ids that the new cell has for them. Everything else stays as it is.
package struct ShardCopy {
    package let shards: [Int16]
    /// The number of the cell that they come from.
    package let source: Int16
    /// The last batch of that cell whose events are in the new one.
    package private(set) var position: Int64
    /// How many events were copied, by this and earlier runs.
    package private(set) var events: Int64

    /// The most events of a step.
    private static let mostEvents: Int64 = 2_000
    /// How many batches the next step looks at: twice as many as the last one needed.
    private var batchesAhead: Int64 = 1_000

    /// What is copied: all but the batch, which is another one.
    private static let columns = EventRow.columns.filter { $0 != "batch_id" }

    /// Continues what was begun in the new cell; nil if nothing was.
    package init?(of shards: [Int16], on target: inout Connection) throws(PostgresError) {
        let rows = try target.query(
            "SELECT source, position, events FROM cluster.arrival WHERE shard = ANY (\(shards)) ORDER BY position")
        guard let first = rows.first, rows.count == shards.count else { return nil }
        (self.shards, source) = (shards.sorted(), try first.get(0))
        (position, events) = (
            try first.get(1), try rows.map { row throws(PostgresError) in try row.get(2, as: Int64.self) }.reduce(0, +)
        )
        try Self.makeTables(on: &target)
    }

    /// Makes the temporary tables through which rows pass. Each step finds them empty: rows that are only deleted stay
    /// in a temporary table, which nobody vacuums.
    package static func makeTables(on target: inout Connection) throws(PostgresError) {
        try target.execute(
            script: """
                SET client_min_messages = warning;
                DROP TABLE IF EXISTS pg_temp.arriving, pg_temp.brought_word, pg_temp.brought_combination,
                    pg_temp.word_map, pg_temp.device_map, pg_temp.context_map;
                CREATE TEMPORARY TABLE arriving ON COMMIT DELETE ROWS AS
                    SELECT \(columns.map(Statement.quoted).joined(separator: ", ")) FROM log.event WHERE false;
                ALTER TABLE pg_temp.arriving ADD hash bigint, ADD place integer GENERATED ALWAYS AS IDENTITY;
                CREATE TEMPORARY TABLE brought_word (
                    old integer, app integer, kind smallint, sent text, target text, key integer, install_hash integer,
                    learned_at timestamptz, is_new boolean NOT NULL DEFAULT false) ON COMMIT DELETE ROWS;
                CREATE TEMPORARY TABLE brought_combination (old integer, app integer, members integer[])
                    ON COMMIT DELETE ROWS;
                CREATE TEMPORARY TABLE word_map (old integer PRIMARY KEY, new integer NOT NULL);
                CREATE TEMPORARY TABLE device_map (old integer PRIMARY KEY, new integer NOT NULL);
                CREATE TEMPORARY TABLE context_map (old integer PRIMARY KEY, new integer NOT NULL);
                RESET client_min_messages
                """)
    }

    /// Copies the events of the next batches, up to the batch `last` of the old cell. Returns how many, or nil if there
    /// are no more.
    package mutating func step(
        upTo last: Int64, from source: inout Connection, to target: inout Connection
    ) throws(PostgresError) -> Int? {
        let (before, shards, cell, ahead) = (position, self.shards, self.source, batchesAhead)
        let step: (until: Int64, found: Int, stored: Int64)? =
            try source.transaction(.repeatableReadOnly) { source throws(PostgresError) in
                guard let next = try Self.next(ahead, after: before, upTo: last, of: shards, on: &source) else {
                    return nil
                }
                return try target.transaction { target throws(PostgresError) in
                    // Before log.head is locked, in the same order as a process that tells a map.
                    try ShardHistory(of: shards).require(isComing: true, on: &target)
                    // Before the events are read: an erasure that comes in between makes the batch fail.
                    let history: Int32 = try target.query("SELECT history FROM log.head")[0].get(0)
                    let found = try source.relay(
                        Self.select(shards, after: before, until: next.until), to: "pg_temp.arriving",
                        Self.columns + ["hash"], of: &target)
                    guard Int64(found) == next.events else {
                        throw .decoding(
                            "the batches after \(before) up to \(next.until) must have \(next.events) events "
                                + "of these shards, and have \(found): bellwether verify in their cell says more"
                        )
                    }
                    try Self.translate(from: &source, on: &target)
                    let batch = try target.query(
                        """
                        SELECT number, coalesce(events, 0)::bigint
                            FROM cluster.store_arrivals(\(cell), \(next.until), \(history))
                        """
                    )[0]
                    let stored: Int64 = try batch.get(1)
                    // The events of all shards are counted with the first one.
                    let advanced = try target.query(
                        """
                        UPDATE cluster.arrival
                        SET position = \(next.until),
                            events = events + CASE shard WHEN \(shards[0]) THEN \(stored) ELSE 0 END
                        WHERE shard = ANY (\(shards))
                            AND (SELECT min(position) FROM cluster.arrival WHERE shard = ANY (\(shards))) = \(before)
                        """
                    ).affected
                    guard advanced == shards.count else {
                        throw .decoding("somebody else copies the same shards: try again")
                    }
                    return (next.until, found, stored)
                }
            }
        guard let step else { return nil }
        batchesAhead = min(max((step.until - position) * 2, 250), 10_000)
        position = step.until
        events += step.stored
        return step.found
    }

    /// The last of the next batches that together have not too many events of the shards, and how many they have.
    private static func next(
        _ batches: Int64, after position: Int64, upTo last: Int64, of shards: [Int16], on source: inout Connection
    ) throws(PostgresError) -> (until: Int64, events: Int64)? {
        let row = try source.query(
            """
            SELECT max(number), max(total) FROM (
                SELECT number, own, sum(own) OVER (ORDER BY number)::bigint AS total FROM (
                    SELECT b.number,
                        (SELECT coalesce(sum(b.shard_events[s + 1]), 0)::bigint FROM unnest(\(shards)) AS s) AS own
                    FROM log.batch_expected AS b WHERE b.number > \(position) AND b.number <= \(last)
                    ORDER BY b.number LIMIT \(batches)
                ) AS b
            ) AS b
            WHERE total <= \(mostEvents) OR total = own
            """)[0]
        guard let until: Int64 = try row.optional(0) else { return nil }
        return (until, try row.get(1))
    }

    private static func select(_ shards: [Int16], after position: Int64, until: Int64) -> String {
        let values = columns.map {
            $0 == "received_at" ? "coalesce(e.received_at, b.received_at)" : "e.\(Statement.quoted($0))"
        }
        let list = shards.map { "\($0)" }.joined(separator: ", ")
        return """
            SELECT \(values.joined(separator: ", ")),
                uuid_hash_extended(e.event_id, uuid_hash_extended(e.install_id, e.app::bigint)) & -16
            FROM log.batch AS b
            JOIN log.event AS e ON e.batch_id = b.id AND e.device_at BETWEEN b.least_device_at AND b.greatest_device_at
            WHERE b.number > \(position) AND b.number <= \(until) AND e.codes >> 4 & 63 IN (\(list))
                AND (\(shards.map { "b.shard_events[\($0 + 1)] > 0" }.joined(separator: " OR ")))
            """
    }
}

extension ShardCopy {
    /// Gives the rows in pg_temp.arriving the ids of the new cell.
    private static func translate(from source: inout Connection, on target: inout Connection) throws(PostgresError) {
        for (dictionary, kinds) in [
            (Combination.Dictionary.device, Combination.deviceWords), (.context, Combination.contextWords),
        ] {
            let missing: String = """
                SELECT coalesce(array_agg(DISTINCT a.\(dictionary)), '{}') FROM pg_temp.arriving AS a
                WHERE a.\(dictionary) IS NOT NULL
                    AND NOT EXISTS (SELECT FROM pg_temp.\(dictionary)_map AS m WHERE m.old = a.\(dictionary))
                """
            let unknown: [Int32] = try target.query(Statement(missing))[0].get(0)
            guard !unknown.isEmpty else { continue }
            let members = Combination.columns(of: dictionary).map { "d.\(Statement.quoted($0))" }.joined(
                separator: ", ")
            try source.relay(
                "SELECT d.id, d.app, ARRAY[\(members)] FROM log.\(dictionary) AS d WHERE d.id IN (\(list(unknown)))",
                to: "pg_temp.brought_combination", ["old", "app", "members"], of: &target)
            try bringWords(
                "SELECT unnest(members[:\(kinds.count)]) AS id FROM pg_temp.brought_combination", from: &source,
                on: &target)
            try target.query("SELECT cluster.take_combinations(\("\(dictionary)"), \(Int32(kinds.count)))")
        }
        // A device or context for which there was no room is an array in its event.
        let loose = [("device", Combination.deviceWords.count), ("context", Combination.contextWords.count)]
        try bringWords(
            (["word_1", "word_2"].map { "SELECT \($0) AS id FROM pg_temp.arriving WHERE \($0) IS NOT NULL" }
                + loose.map { name, words in
                    """
                    SELECT member.value::integer FROM pg_temp.arriving AS a
                    CROSS JOIN LATERAL jsonb_array_elements_text(a.rare -> '\(name)')
                        WITH ORDINALITY AS member (value, place)
                    WHERE a.rare ? '\(name)' AND member.place <= \(words)
                    """
                }).joined(separator: " UNION "), from: &source, on: &target)
        try target.execute(
            script: """
                UPDATE pg_temp.arriving AS a
                SET device = (SELECT m.new FROM pg_temp.device_map AS m WHERE m.old = a.device),
                    context = (SELECT m.new FROM pg_temp.context_map AS m WHERE m.old = a.context),
                    word_1 = (SELECT m.new FROM pg_temp.word_map AS m WHERE m.old = a.word_1),
                    word_2 = (SELECT m.new FROM pg_temp.word_map AS m WHERE m.old = a.word_2);
                """
                    + loose.map { name, words in
                        """
                        UPDATE pg_temp.arriving AS a
                        SET rare = a.rare || jsonb_build_object('\(name)', to_jsonb(cluster.here(
                            ARRAY(SELECT m::integer FROM jsonb_array_elements_text(a.rare -> '\(name)') AS m),
                                \(words))))
                        WHERE a.rare ? '\(name)';
                        """
                    }.joined())
    }

    /// Makes sure that pg_temp.word_map has these ids, which a query of the new cell selects.
    package static func bringWords(
        _ ids: String, from source: inout Connection, on target: inout Connection
    ) throws(PostgresError) {
        let missing: String = """
            SELECT coalesce(array_agg(DISTINCT asked.id), '{}') FROM (\(ids)) AS asked
            WHERE asked.id > 0 AND NOT EXISTS (SELECT FROM pg_temp.word_map AS m WHERE m.old = asked.id)
            """
        let unknown: [Int32] = try target.query(Statement(missing))[0].get(0)
        guard !unknown.isEmpty else { return }
        try source.relay(
            """
            SELECT w.id, w.app, w.kind, w.sent, t.sent, w.key, w.install_hash, w.learned_at
            FROM log.word AS w LEFT JOIN log.word AS t ON t.id = w.counts_as WHERE w.id IN (\(list(unknown)))
            """, to: "pg_temp.brought_word",
            ["old", "app", "kind", "sent", "target", "key", "install_hash", "learned_at"], of: &target)
        try target.query("SELECT cluster.take_words()")
    }

    private static func list(_ ids: [Int32]) -> String { ids.map { "\($0)" }.joined(separator: ", ") }
}

extension PostgresError {
    /// Whether another transaction came in between, so that copying again may succeed.
    package var isCrossing: Bool {
        [.historyRaised, .uniqueViolation, .serializationFailure, .deadlockDetected].contains(state)
    }
}
