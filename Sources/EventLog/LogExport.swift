package import Postgres
internal import Values

/// Reads the log by position for other tools, as an analyst may: the events of each batch, batch by batch, each event once.
///
/// Batches never change but for what erasure and retention remove, so an export up to a position can be continued after it.
/// Memory is bounded, since a batch has at most some thousand events, and extra members at most 4 KiB.
package struct LogExport {
    /// Everything up to this batch has been read.
    package private(set) var position: Int64
    /// The last batch to read.
    package let end: Int64
    private let app: String?
    private let shape: Shape
    /// The columns of `analytics.events`, in their order.
    package let columns: [String]

    /// How an event is read.
    package enum Shape: Sendable {
        /// Its columns as text, nil for null.
        case cells
        /// One JSON object, without what is null.
        case json
    }

    /// Reads the batches after a position, up to the newest one there is now.
    package init(
        after position: Int64, app: String?, as shape: Shape, on connection: inout Connection
    ) throws(PostgresError) {
        self.position = position
        self.shape = shape
        self.app = app
        end = try LogTail.head(on: &connection)
        columns = try connection.query(
            """
            SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = 'analytics.events'::regclass AND attnum > 0 AND NOT attisdropped
            """)[0].get(0)
    }

    /// How many events are read together, give or take a batch.
    private static let mostEvents: Int64 = 1_000

    /// Reads the events of the next batches; nil when there are no more. An event is its columns, or one text.
    package mutating func next(on connection: inout Connection) throws(PostgresError) -> [[String?]]? {
        guard position < end else { return nil }
        var (batches, least, greatest): ([Int64], [Timestamp], [Timestamp]) = ([], [], [])
        var (events, last): (Int64, Int64) = (0, position)
        for row in try connection.queryPrepared(
            """
            SELECT batch, events, least_device_at, greatest_device_at FROM analytics.batches
            WHERE batch > \(position) AND batch <= \(end) ORDER BY batch LIMIT \(Self.mostEvents)
            """)
        {
            let count: Int64 = try row.get(1)
            guard events == 0 || events + count <= Self.mostEvents else { break }
            last = try row.get(0)
            events += count
            if let first: Timestamp = try row.optional(2), let final: Timestamp = try row.optional(3) {
                batches.append(last)
                least.append(first)
                greatest.append(final)
            }
        }
        let values =
            switch shape {
            case .cells: columns.map { "e.\(Statement.quoted($0))::text" }.joined(separator: ", ")
            case .json:
                """
                (jsonb_strip_nulls(to_jsonb(e) - 'extra')
                    || CASE WHEN e.extra IS NULL THEN '{}' ELSE jsonb_build_object('extra', e.extra) END)::text
                """
            }
        // Each batch is looked up by itself, in the months that it has events in. The names are those of the view's columns.
        let rows = try connection.queryPrepared(
            Statement(
                """
                SELECT e.cells FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS b (batch, least, greatest)
                CROSS JOIN LATERAL (
                    SELECT ARRAY[\(values)] AS cells, e.device_at, e.event_id, e.install_id, e.app FROM analytics.events AS e
                    WHERE e.batch = b.batch AND e.device_at >= b.least AND e.device_at <= b.greatest
                        AND ($4::text IS NULL OR e.app = $4)
                    OFFSET 0
                ) AS e
                ORDER BY b.batch, e.device_at, e.event_id, e.install_id, e.app
                """, [.init(batches), .init(least), .init(greatest), .init(app)]))
        position = last
        var found: [[String?]] = []
        for row in rows { found.append(try row.get(0, as: Nullables<String>.self).elements) }
        return found
    }
}
