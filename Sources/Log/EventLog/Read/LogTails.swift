package import Postgres
internal import ServiceRuntime

/// Follows all logs that a database shows: its own or, if it is a hub, that of each cell. They have no common order, so
/// each has a position of its own.
package struct LogTails {
    private var tails: [LogTail]
    /// The log in which `show` had enough.
    private var cut: Int?

    /// Shows the batches after a position, which names these logs.
    package init(
        after position: LogPosition, _ filter: LogTail.Filter = LogTail.Filter(), page: Int32 = 200, of cells: [String?]
    ) {
        tails = cells.map { LogTail(after: position[$0], filter, page: page, of: $0) }
    }

    /// Everything up to here has been shown.
    package var position: LogPosition { LogPosition(tails.map { ($0.cell, $0.position) }) }

    /// The same, where the batch in which `show` had enough counts as shown: batches have no gaps.
    package var positionPastCut: LogPosition {
        var position = position
        if let cut { position[tails[cut].cell] = position[tails[cut].cell].addingSaturated(1) }
        return position
    }

    /// Shows what was committed since, log after log, until `show` returns that it is enough.
    package mutating func advance(
        on connection: inout Connection, _ show: (LogTail.Line) -> Bool
    ) throws(PostgresError) -> Bool {
        cut = nil
        for place in tails.indices {
            guard try tails[place].advance(on: &connection, show) else {
                cut = place
                return false
            }
        }
        return true
    }

    /// The logs that a database shows: nil stands for its own, and a hub has the names of its cells, in their order.
    package static func cells(on connection: inout Connection) throws(PostgresError) -> [String?] {
        guard try isHub(&connection) else { return [nil] }
        var cells: [String?] = []
        for row in try connection.query(
            """
            SELECT s.srvname::text
            FROM pg_foreign_table AS t
            JOIN pg_foreign_server AS s ON s.oid = t.ftserver
            JOIN pg_class AS c ON c.oid = t.ftrelid AND c.relnamespace = to_regnamespace('hub')
                AND c.relname LIKE 'batches@%'
            ORDER BY split_part(c.relname, '@', 2)::integer
            """)
        { cells.append(try row.get(0)) }
        return cells
    }

    /// Whether a database is a hub, as far as an analyst sees.
    package static func isHub(_ connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query("SELECT to_regclass('hub.batches') IS NOT NULL")[0].get(0)
    }

    /// For a session that reads the log by position: look-ups by index for batches and events, whatever the statistics
    /// of a young log say.
    package static let settings =
        "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off"

    /// The newest batches of these logs.
    package static func head(of cells: [String?], on connection: inout Connection) throws(PostgresError) -> LogPosition
    {
        var heads: [(String?, Int64)] = []
        for cell in cells { heads.append((cell, try LogTail.head(of: cell, on: &connection))) }
        return LogPosition(heads)
    }
}
