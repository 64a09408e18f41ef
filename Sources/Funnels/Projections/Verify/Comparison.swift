internal import Postgres
package import Values

/// Compares a recount with the stored cells of the same shard.
struct Comparison {
    let recount: Recount
    /// The number of the projector's tables.
    let generation: Int32
    /// Apps that are left out on both sides.
    var apps: [Int32] = []
    /// Nil for all days.
    var days: ProvedDays?
    /// Whether the stored rows that are compared are in a table of their own, so that no shard reads all of them again.
    private var isKept = false

    init(recount: Recount, generation: Int32, apps: [Int32] = [], days: ProvedDays? = nil) {
        (self.recount, self.generation, self.apps, self.days) = (recount, generation, apps, days)
    }

    /// Copies the stored rows of these shards.
    mutating func keepStored(of shards: [Int16], on connection: inout Connection) throws(PostgresError) {
        let ofShards = "shard IN (\(shards.map { "\($0)" }.joined(separator: ", ")))"
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE \(kept) ON COMMIT DROP AS
                \(recount.stored(in: generation, where: "\(ofShards) AND \(ProvedDays.condition(days))"));
                ANALYZE \(kept) (shard)
                """)
        isKept = true
    }

    private var kept: String { Recount.quoted("recount_stored_\(recount.table)") }

    /// SQL for the stored rows of a shard.
    func stored(_ shard: Int16) -> String {
        isKept
            ? "(SELECT * FROM \(kept) WHERE shard = \(shard))"
            : "(\(recount.stored(in: generation, where: "shard = \(shard) AND \(ProvedDays.condition(days))")))"
    }

    /// SQL for the shards of the stored rows, each once or more.
    var storedShards: String {
        let rows = isKept ? kept : "projection.\(Recount.quoted("\(recount.table)_\(generation)"))"
        return "SELECT shard FROM \(rows)"
    }

    /// How many cells there are on either side, and how many differ.
    func count(in shard: Int16, on connection: inout Connection) throws(PostgresError) -> (
        cells: Int64, differing: Int64
    ) {
        let sql = "SELECT count(*), count(*) FILTER (WHERE \(differs)) FROM \(sides(shard))"
        let row = try connection.query(Statement(sql))[0]
        return (try row.get(0), try row.get(1))
    }

    /// Stores the keys of the differing cells in a temporary table.
    func noteDiffering(
        as table: String, in shard: Int16, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE \(table) ON COMMIT DROP AS SELECT \(keys) FROM \(sides(shard)) WHERE \(differs);
                ANALYZE \(table)
                """)
    }

    /// The first differing cells in the order of their keys, with readable names.
    func differences(
        atMost limit: Int, in shard: Int16, deliveries: Deliveries, on connection: inout Connection
    ) throws(PostgresError) -> [Difference] {
        let cells = "recount_cell_\(recount.table)"
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE \(cells) ON COMMIT DROP AS
                SELECT row_number() OVER (ORDER BY \(keys)) AS place, \(keys), \(columns(of: "r")), \(columns(of: "s"))
                FROM \(sides(shard)) WHERE \(differs) ORDER BY \(keys) LIMIT \(limit)
                """)
        let key = recount.key.map { $0.text(of: Recount.quoted($0.name)) }
        let values = ["s", "r"].flatMap { side in
            recount.values.map { $0.text(of: Recount.quoted("\(side)_\($0.name)")) }
        }
        let sql = "SELECT place, \((key + values).joined(separator: ",\n")) FROM \(cells) ORDER BY place"
        var differences: [Difference] = []
        for row in try connection.query(Statement(sql)) {
            let place: Int64 = try row.get(0)
            var texts: [String?] = []
            for column in 0..<(key.count + values.count) { texts.append(try row.optional(column + 1)) }
            differences.append(
                Difference(
                    of: recount, in: shard, texts: texts,
                    deliveries: try deliveries.behind(recount, cells: cells, place: place, on: &connection)))
        }
        return differences
    }

    private var keys: String { recount.key.map { Recount.quoted($0.name) }.joined(separator: ", ") }

    private func columns(of side: String) -> String {
        recount.values.map { "\(side).\(Recount.quoted($0.name)) AS \(Recount.quoted("\(side)_\($0.name)"))" }
            .joined(separator: ", ")
    }

    private var differs: String {
        let sides = ["r", "s"].map { side in
            recount.values.map { "\(side).\(Recount.quoted($0.name))" }.joined(separator: ", ")
        }
        return "ROW(\(sides[0])) IS DISTINCT FROM ROW(\(sides[1]))"
    }

    private func sides(_ shard: Int16) -> String {
        let names = (recount.key + recount.values).map { Recount.quoted($0.name) }.joined(separator: ", ")
        let saysSomething = recount.values.map { "\(Recount.quoted($0.name)) <> 0" }.joined(separator: " OR ")
        let isCompared = apps.isEmpty ? "true" : "app NOT IN (\(apps.map(String.init).joined(separator: ", ")))"
        return """
            (SELECT * FROM (\(recount.sql)) AS counted WHERE \(isCompared)) AS r
            FULL JOIN (
                SELECT \(names) FROM \(stored(shard)) AS stored
                WHERE \(isCompared)\(recount.isSum ? " AND (\(saysSomething))" : "")
            ) AS s USING (\(keys))
            """
    }
}

/// A cell that does not agree with the log.
package struct Difference: Sendable {
    package let table: String
    package let shard: Int16
    /// The readable name of the cell, column by column: slugs and words, not ids.
    package let key: [(column: String, text: String)]
    /// Only the columns that differ. Nil on a side that does not have the cell.
    package let values: [(column: String, stored: String?, recounted: String?)]
    /// The first few of the deliveries behind it.
    package let deliveries: [Delivery]

    /// A delivery behind a cell.
    package struct Delivery: Sendable {
        package let install: UUID
        package let notificationKey: String
        /// Whether its own row does not agree with the log; nil if nobody keeps the rows of deliveries up to date.
        package let differs: Bool?
    }

    /// The projection has no such cell.
    package var isMissing: Bool { values.allSatisfy { $0.stored == nil } }

    /// The projection should have no such cell.
    package var isSurplus: Bool { values.allSatisfy { $0.recounted == nil } }

    /// `texts` holds the key, then all values as stored, then all as recounted.
    init(of recount: Recount, in shard: Int16, texts: [String?], deliveries: [Delivery]) {
        table = recount.table
        self.shard = shard
        self.deliveries = deliveries
        key = zip(recount.key, texts).map { ($0.name, $1 ?? "") }
        let stored = texts.dropFirst(recount.key.count)
        let recounted = stored.dropFirst(recount.values.count)
        values = zip(recount.values, zip(stored, recounted)).map { ($0.name, $1.0, $1.1) }
            .filter { !Difference.isSame($0.1, $0.2) }
    }

    /// Byte for byte, as PostgreSQL compares.
    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}
