internal import Postgres
package import Values

/// Compares a recount with the stored cells of the same shard. First it compares digests of both sides, for which
/// nothing is sorted; only where these differ, cell with cell.
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

    /// What its hashes begin with. It is drawn anew each time, so that nobody can choose rows whose sums agree.
    private let seed = Int64.random(in: .min ... .max)
    /// The types of the stored columns. Equal numbers of different types may have different hashes.
    private let types: [String]

    init(
        recount: Recount, generation: Int32, apps: [Int32] = [], days: ProvedDays? = nil,
        on connection: inout Connection
    ) throws(PostgresError) {
        (self.recount, self.generation, self.apps, self.days) = (recount, generation, apps, days)
        let columns = (recount.key + recount.values).map { "pg_typeof(stored.\(Recount.quoted($0.name)))::text" }
        let sql = """
            SELECT ARRAY[\(columns.joined(separator: ", "))]
            FROM (SELECT) AS one LEFT JOIN (\(recount.stored(in: generation, where: "false"))) AS stored ON true
            """
        types = try connection.query(Statement(sql)).value()
    }

    /// What each shard's stored rows say, in one pass over the table.
    func storedDigests(of shards: [Int16], on connection: inout Connection) throws(PostgresError) -> [Int16: Digest] {
        // To group by a number of the log's own is safe with any hash.
        try connection.execute(script: "SET LOCAL enable_hashagg = on")
        let sql = """
            SELECT shard, \(digest(of: columns)) FROM (\(stored(of: shards))) AS stored
            WHERE \(isCompared)\(recount.isSum ? " AND (\(saysSomething))" : "") GROUP BY shard
            """
        let rows = try connection.query(Statement(sql))
        try connection.execute(script: "SET LOCAL enable_hashagg = off")
        var digests: [Int16: Digest] = [:]
        for row in rows { digests[try row.get("shard")] = try Digest(row) }
        return digests
    }

    /// What the recount of the shard that is open says.
    func recountedDigest(on connection: inout Connection) throws(PostgresError) -> Digest {
        let sql = "SELECT \(digest(of: typed)) FROM (\(recount.sql)) AS counted WHERE \(isCompared)"
        return try Digest(connection.query(Statement(sql))[0])
    }

    /// Copies the stored rows of these shards, before they are compared row by row.
    mutating func keepStored(of shards: [Int16], on connection: inout Connection) throws(PostgresError) {
        try connection.execute(
            script: """
                CREATE TEMPORARY TABLE \(kept) ON COMMIT DROP AS \(stored(of: shards)); ANALYZE \(kept) (shard)
                """)
        isKept = true
    }

    private func stored(of shards: [Int16]) -> String {
        let ofShards = "shard IN (\(shards.map { "\($0)" }.joined(separator: ", ")))"
        return recount.stored(in: generation, where: "\(ofShards) AND \(ProvedDays.condition(days))")
    }

    /// Whether the rows are the deliveries themselves.
    var isOfDeliveries: Bool { recount.table == Recount.delivery.table }

    private var kept: String { Recount.quoted("recount_stored_\(recount.table)") }

    /// SQL for the stored rows of a shard.
    func stored(_ shard: Int16) -> String {
        isKept
            ? "(SELECT * FROM \(kept) WHERE shard = \(shard))"
            : "(\(recount.stored(in: generation, where: "shard = \(shard) AND \(ProvedDays.condition(days))")))"
    }

    /// How many cells there are on either side, and how many differ.
    func count(in shard: Int16, on connection: inout Connection) throws(PostgresError) -> (
        cells: Int64, differing: Int64
    ) {
        let sql = "SELECT count(*) AS cells, count(*) FILTER (WHERE \(differs)) AS differing FROM \(sides(shard))"
        let row = try connection.query(Statement(sql))[0]
        return (try row.get("cells"), try row.get("differing"))
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
        let sql =
            "SELECT place, ARRAY[\((key + values).joined(separator: ",\n"))] AS texts FROM \(cells) ORDER BY place"
        var differences: [Difference] = []
        for row in try connection.query(Statement(sql)) {
            let texts: Nullables<String> = try row.get("texts")
            differences.append(
                Difference(
                    of: recount, in: shard, texts: texts.elements,
                    deliveries: try deliveries.behind(
                        recount, cells: cells, place: try row.get("place"), on: &connection)))
        }
        return differences
    }

    private var keys: String { recount.key.map { Recount.quoted($0.name) }.joined(separator: ", ") }

    private var columns: [String] { (recount.key + recount.values).map { Recount.quoted($0.name) } }

    /// The columns of a recount, in the types of the stored ones.
    private var typed: [String] { zip(columns, types).map { "\($0)::\($1)" } }

    /// SQL for a digest of rows: how many there are, and the sum of their hashes. PostgreSQL's hash of a row is itself a
    /// sum over its columns, so values that two rows exchanged would not change the sum of such hashes: each is hashed
    /// once more, as a floating-point number, since of an integer PostgreSQL hashes 32 bits and of these 53.
    private func digest(of columns: [String]) -> String {
        let row = "hash_record_extended(ROW(\(columns.joined(separator: ", "))), '\(seed)'::bigint)"
        return """
            count(*) AS rows, coalesce(sum(hashfloat8extended(\(row)::float8, '\(seed)'::bigint)), 0)::text AS sum
            """
    }

    private var isCompared: String {
        apps.isEmpty ? "true" : "app NOT IN (\(apps.map(String.init).joined(separator: ", ")))"
    }

    private var saysSomething: String {
        recount.values.map { "\(Recount.quoted($0.name)) <> 0" }.joined(separator: " OR ")
    }

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
        """
        (SELECT * FROM (\(recount.sql)) AS counted WHERE \(isCompared)) AS r
        FULL JOIN (
            SELECT \(columns.joined(separator: ", ")) FROM \(stored(shard)) AS stored
            WHERE \(isCompared)\(recount.isSum ? " AND (\(saysSomething))" : "")
        ) AS s USING (\(keys))
        """
    }
}

/// What rows say, in whatever order: two sides with the same digest have the same rows, but for one chance in 2^53.
struct Digest: Equatable {
    let rows: Int64
    let sum: String

    static let nothing = Digest(rows: 0, sum: "0")
}

extension Digest {
    fileprivate init(_ row: Rows.Row) throws(PostgresError) {
        self.init(rows: try row.get("rows"), sum: try row.get("sum"))
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
