package import Postgres

/// What a cell that leaves its cluster has besides events: what became of all that it received, the events it rejected,
/// and the reports of dropped ones. The first cell takes it, so that no number changes.
package enum CellLeftovers {
    private static let rejected = [
        "app", "key", "received_at", "sent_at", "install_id", "event_id", "reason", "detail", "source", "raw",
        "raw_hash",
        "replayed_at",
    ]
    private static let drops = ["app", "id", "key", "install_id", "received_at", "count", "since", "reason"]
    private static let counts = ["accepted", "duplicate", "corrected", "clamped", "late", "other"]
    private static let tallies = ["app", "key", "received_quarter"] + counts + ["rejected"]
    /// Rejected events are up to 64 KiB each.
    private static let mostRows = 500

    /// Notes in the first cell that this one leaves.
    package static func announce(_ cell: ClusterMap.Cell, on first: inout Connection) throws(PostgresError) {
        try first.query(
            """
            INSERT INTO cluster.former_cell (cell, name, connection)
            VALUES (\(cell.number), \(cell.name), \(cell.place))
            ON CONFLICT (cell) DO UPDATE
            SET name = excluded.name, connection = excluded.connection, left_at = now(), settled_at = NULL
            """)
    }

    /// Whether a cell with this number has left, as the first one knows.
    package static func isFormer(_ cell: Int16, on first: inout Connection) throws(PostgresError) -> Bool {
        try !first.query("SELECT FROM cluster.former_cell WHERE cell = \(cell)").isEmpty
    }

    /// Removes from a cell that comes back what the first one took when it left.
    package static func remove(on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT cluster.drop_leftovers()")
    }

    /// Cells that have left without what they counted, as the first one knows: somebody was killed in between. One that
    /// is still in the map has not left.
    package static func unsettled(on first: inout Connection) throws(PostgresError) -> [ClusterMap.Cell] {
        var cells: [ClusterMap.Cell] = []
        for row in try first.query(
            """
            SELECT cell, name, connection FROM cluster.former_cell AS f
            WHERE settled_at IS NULL AND NOT EXISTS (SELECT FROM cluster.cell AS c WHERE c.cell = f.cell) ORDER BY cell
            """)
        { cells.append(ClusterMap.Cell(number: try row.get(0), name: try row.get(1), place: try row.get(2))) }
        return cells
    }

    /// Copies it in one transaction of the first cell. Done again, it does nothing.
    package static func bring(
        of cell: ClusterMap.Cell, from source: inout Connection, to target: inout Connection
    ) throws(PostgresError) {
        try target.transaction { target throws(PostgresError) in
            try target.execute(
                script: """
                    SET LOCAL statement_timeout = 0;
                    CREATE TEMPORARY TABLE left_tally ON COMMIT DROP AS
                        SELECT \(tallies.joined(separator: ", ")) FROM log.batch_tally WHERE false;
                    CREATE TEMPORARY TABLE left_rejected ON COMMIT DROP AS
                        SELECT \(rejected.joined(separator: ", ")) FROM log.rejected WHERE false;
                    CREATE TEMPORARY TABLE left_drop ON COMMIT DROP AS
                        SELECT \(drops.joined(separator: ", ")) FROM log.client_drop WHERE false
                    """)
            let sums = counts.map { "sum(t.\($0))::integer" }.joined(separator: ", ")
            try source.relay(
                """
                SELECT t.app, t.key, t.received_quarter, \(sums), (
                    SELECT jsonb_object_agg(r.reason, r.events) FROM (
                        SELECT one.key AS reason, sum(one.value::bigint) AS events
                        FROM unnest(array_agg(t.rejected)) AS all_of, jsonb_each_text(all_of) AS one GROUP BY one.key
                    ) AS r)
                FROM log.batch_tally AS t GROUP BY t.app, t.key, t.received_quarter
                """, to: "pg_temp.left_tally", tallies, of: &target)
            try source.relay(
                "SELECT \(drops.joined(separator: ", ")) FROM log.client_drop", to: "pg_temp.left_drop", drops,
                of: &target)
            let last: Int64 = try source.query("SELECT coalesce(max(id), 0) FROM log.rejected")[0].get(0)
            var position: Int64 = 0
            while position < last {
                let next: String =
                    """
                    SELECT coalesce(max(id), \(last))
                    FROM (SELECT id FROM log.rejected WHERE id > \(position) ORDER BY id LIMIT \(mostRows)) AS r
                    """
                let until: Int64 = try source.query(Statement(next))[0].get(0)
                try source.relay(
                    """
                    SELECT \(rejected.joined(separator: ", ")) FROM log.rejected WHERE id > \(position)
                        AND id <= \(until)
                    """,
                    to: "pg_temp.left_rejected", rejected, of: &target)
                position = until
            }
            try target.query("SELECT cluster.take_leftovers(\(cell.number))")
        }
    }

    /// The greatest number that a former cell had; 0 if none has left.
    package static func greatestNumber(on connection: inout Connection) throws(PostgresError) -> Int16 {
        try connection.query("SELECT coalesce(max(cell), 0::smallint) FROM cluster.former_cell")[0].get(0)
    }
}
