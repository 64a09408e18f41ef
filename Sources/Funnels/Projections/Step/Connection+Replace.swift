internal import Postgres

extension Connection {
    /// Deletes rows of a table of deliveries or of days of installs, and writes others. The transaction has read those
    /// rows, and has locked their shard.
    mutating func replace(
        _ places: [RowPlace], in table: String, _ columns: [String], count: Int, _ write: (inout CopyRows) -> Void
    ) throws(PostgresError) {
        if !places.isEmpty {
            let deleted = try queryPrepared(
                "DELETE FROM projection.\(identifier: table) WHERE ctid = ANY (\(places))"
            ).affected
            guard deleted == places.count else {
                throw .decoding("\(deleted) of \(places.count) rows of \(table) to be changed exist")
            }
        }
        guard count > 0 else { return }
        var rows = CopyRows(columns: columns.count, capacity: 256 * count)
        write(&rows)
        let list = columns.map(Statement.quoted).joined(separator: ", ")
        try copyIn("COPY projection.\(Statement.quoted(table)) (\(list)) FROM STDIN (FORMAT binary)", rows)
    }
}
