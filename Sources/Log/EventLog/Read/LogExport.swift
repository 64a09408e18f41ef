package import Postgres
internal import Values

/// Reads the log by position for other tools, as an analyst may: the events of each batch, batch by batch, each event
/// once.
///
/// Batches never change but for what erasure and retention remove, so an export up to a position can be continued after
/// it. Memory is bounded, since a batch has at most some thousand events, and extra members at most 4 KiB.
package struct LogExport {
    /// Everything up to this batch has been read.
    package private(set) var position: Int64
    /// The last batch to read.
    package private(set) var end: Int64
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
        /// One CloudEvent, as JSON.
        case cloudEvent
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

    /// Reads the events of the next batches; nil when there are no more. An event is its columns, or one text. `fate`
    /// says of a batch with events that another cell had before what that cell's export does with them.
    package mutating func next(
        on connection: inout Connection, moved fate: (MovedBatch) -> MovedBatch.Fate = { _ in .unread }
    ) throws(PostgresError) -> [[String?]]? {
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
        let moved = try MovedBatch.all(after: position, until: last, on: &connection).map { ($0.batch, fate($0)) }
        if let later = moved.filter({ $0.1 == .later }).map(\.0).min() { (last, end) = (later - 1, later - 1) }
        if !moved.isEmpty {
            let read = Set(moved.filter { $0.1 == .read }.map(\.0))
            let kept = batches.indices.filter { batches[$0] <= last && !read.contains(batches[$0]) }
            (batches, least, greatest) = (kept.map { batches[$0] }, kept.map { least[$0] }, kept.map { greatest[$0] })
        }
        let values =
            switch shape {
            case .cells: columns.map { "e.\(Statement.quoted($0))::text" }.joined(separator: ", ")
            case .json:
                """
                (jsonb_strip_nulls(to_jsonb(e) - 'extra')
                    || CASE WHEN e.extra IS NULL THEN '{}' ELSE jsonb_build_object('extra', e.extra) END)::text
                """
            case .cloudEvent: CloudEvents.sql
            }
        // Each batch is looked up by itself, in the months that it has events in. The names are those of the view's
        // columns.
        let rows = try connection.queryPrepared(
            Statement(
                """
                SELECT e.cells
                FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS b (batch, least, greatest)
                CROSS JOIN LATERAL (
                    SELECT ARRAY[\(values)] AS cells, e.device_at, e.event_id, e.install_id, e.app
                        FROM analytics.events AS e
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

/// A batch with events that another cell of the cluster had before they moved here.
package struct MovedBatch: Sendable {
    package let batch: Int64
    /// That cell, nil if it has left the cluster, and its last batch that is in this one.
    package let source: String?
    package let until: Int64
    package let shards: [Int16]

    /// Whether its events are read where they were before.
    package enum Fate {
        /// There, now or at an earlier time.
        case read
        /// No more: that cell has forgotten them.
        case unread
        /// Only by a later run, so this one ends before the batch.
        case later
    }

    static func all(
        after position: Int64, until last: Int64, on connection: inout Connection
    ) throws(PostgresError) -> [MovedBatch] {
        var batches: [MovedBatch] = []
        for row in try connection.queryPrepared(
            "SELECT batch, source, until, shards FROM cells.moved_batch WHERE batch > \(position) AND batch <= \(last)")
        {
            batches.append(
                MovedBatch(
                    batch: try row.get(0), source: try row.optional(1), until: try row.get(2), shards: try row.get(3)))
        }
        return batches
    }

    /// The last batch up to which the log has forgotten each shard that another cell has now.
    package static func forgotten(on connection: inout Connection) throws(PostgresError) -> [Int16: Int64] {
        var forgotten: [Int16: Int64] = [:]
        for row in try connection.queryPrepared("SELECT shard, until FROM cells.forgotten") {
            forgotten[try row.get(0)] = try row.get(1)
        }
        return forgotten
    }
}
