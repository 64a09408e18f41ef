package import Postgres
internal import ServiceRuntime
package import Telemetry
package import Values

/// Follows the log by position, as an analyst may: the events of each batch, batch by batch, each event once.
///
/// It reads one page of events at a time, so a large batch takes no more memory than a small one.
package struct LogTail {
    /// Which events are shown.
    package struct Filter: Sendable {
        package var app: String?
        package var install: UUID?
        /// Show only one type. Then no rejected events are shown, since only stored events have a type for sure.
        package var type: EventType?
        /// Whether the session reads some apps only: then it is shown what batches have of these.
        package var isBound = false

        package init() {}

        fileprivate var isOpen: Bool { app == nil && install == nil && type == nil }
    }

    /// What is shown of one event, for people and as JSON.
    package struct Line: Sendable {
        package let text: String
        package let json: String
        /// When its batch was committed.
        package let committedAt: Timestamp
        package var isRejected = false
    }

    /// A batch that has something to show.
    private struct Batch {
        let number: Int64
        let committedAt: Timestamp
    }

    /// Everything up to this batch has been shown.
    package private(set) var position: Int64
    /// The cell whose log it is, on a hub; nil for the log of the database itself.
    package let cell: String?
    private let filter: Filter
    /// How many events are in a page, and how many batches are listed at once.
    private let page: Int32

    /// Shows the batches after a position.
    package init(after position: Int64, _ filter: Filter = Filter(), page: Int32 = 200, of cell: String? = nil) {
        (self.position, self.filter, self.page, self.cell) = (position, filter, page, cell)
    }

    /// The newest batch, 0 on an empty log.
    package static func head(
        of cell: String? = nil, on connection: inout Connection
    ) throws(PostgresError) -> Int64 {
        let views = Views(of: cell)
        // Whoever reads some apps only sees no batches, but how far the projections have come.
        return try connection.query(
            """
            SELECT coalesce((
                SELECT batch FROM \(sql: views.batches)
                WHERE \(sql: views.cell) = \(cell ?? "") ORDER BY batch DESC LIMIT 1
            ), (
                SELECT max(position + lag)::bigint FROM \(sql: views.projections)
                WHERE \(sql: views.cell) = \(cell ?? "")
            ), 0)
            """)[0].get(0)
    }

    /// The views that show a log. Those of a hub have the rows of all cells, with the cell in a column.
    private struct Views {
        let batches: StaticString
        /// What batches have of the apps that the session reads.
        let ownBatches: StaticString
        let events: StaticString
        let rejected: StaticString
        let projections: StaticString
        let cell: StaticString

        init(of name: String?) {
            if name == nil {
                (batches, ownBatches, projections) =
                    ("analytics.batches", "analytics.app_batches", "analytics.projections")
                (events, rejected, cell) = ("analytics.events", "analytics.rejected_events", "''::text")
            } else {
                (batches, ownBatches, projections) = ("hub.batches", "hub.app_batches", "hub.projections")
                (events, rejected, cell) = ("hub.events", "hub.rejected_events", "cell")
            }
        }
    }

    package static func knows(app: String, on connection: inout Connection) throws(PostgresError) -> Bool {
        try !connection.query("SELECT FROM analytics.apps WHERE app = \(app)").isEmpty
    }

    /// Shows what was committed since, in the order of the batches, until `show` returns that it is enough.
    package mutating func advance(
        on connection: inout Connection, _ show: (Line) -> Bool
    ) throws(PostgresError) -> Bool {
        while true {
            let batches = try list(on: &connection)
            for row in batches {
                let batch = Batch(number: try row.get(0), committedAt: try row.get(5))
                if try row.get(1, as: Int64.self) > 0, let least: Timestamp = try row.optional(3),
                    let greatest: Timestamp = try row.optional(4),
                    try !showEvents(of: batch, from: least, to: greatest, on: &connection, show)
                {
                    return false
                }
                let rejected: Int64 = try row.get(2)
                if rejected > 0, filter.type == nil,
                    try !showRejected(of: batch, count: rejected, on: &connection, show)
                {
                    return false
                }
                position = batch.number
            }
            if batches.count < Int(page) { return true }
        }
    }

    /// The next batches that may have something to show.
    private func list(on connection: inout Connection) throws(PostgresError) -> Rows {
        let views = Views(of: cell)
        guard filter.isBound else {
            return try connection.queryPrepared(
                """
                SELECT batch, events, rejected, least_device_at, greatest_device_at, committed_at
                    FROM \(sql: views.batches)
                WHERE batch > \(position) AND \(sql: views.cell) = \(cell ?? "") ORDER BY batch LIMIT \(page)
                """)
        }
        return try connection.queryPrepared(
            """
            SELECT batch, events, rejected, least_device_at, greatest_device_at, committed_at
                FROM \(sql: views.ownBatches)
            WHERE batch > \(position) AND app = \(filter.app) AND \(sql: views.cell) = \(cell ?? "")
            ORDER BY batch LIMIT \(page)
            """)
    }

    private func showEvents(
        of batch: Batch, from least: Timestamp, to greatest: Timestamp, on connection: inout Connection,
        _ show: (Line) -> Bool
    ) throws(PostgresError) -> Bool {
        let views = Views(of: cell)
        var after: (at: Timestamp, id: UUID, install: UUID, app: String)?
        while true {
            let rows = try connection.queryPrepared(
                """
                SELECT device_at, event_id, install_id, app,
                    concat_ws('  ', batch, to_char(occurred_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), app, type, install_id,
                        (SELECT string_agg(key || '=' || value, '  ') FROM json_each_text(row_to_json(e))
                        WHERE value IS NOT NULL AND key = ANY (\(Self.shown)))),
                    ('{"result": "accepted"}'::jsonb || jsonb_strip_nulls(to_jsonb(e) - 'extra')
                        || CASE WHEN extra IS NULL THEN '{}' ELSE jsonb_build_object('extra', extra) END)::text
                FROM \(sql: views.events) AS e
                WHERE batch = \(batch.number) AND \(sql: views.cell) = \(cell ?? "")
                    AND device_at BETWEEN \(least) AND \(greatest)
                    AND (\(filter.app) IS NULL OR app = \(filter.app))
                    AND (\(filter.install) IS NULL OR install_id = \(filter.install))
                    AND (\(filter.type?.name) IS NULL OR type = \(filter.type?.name))
                    AND (\(after?.at) IS NULL
                        OR (device_at, event_id, install_id, app) > (\(after?.at), \(after?.id), \(after?.install),
                            \(after?.app)))
                ORDER BY device_at, event_id, install_id, app LIMIT \(page)
                """)
            for row in rows {
                guard show(line(try row.get(4), json: try row.get(5), of: batch)) else { return false }
                after = (try row.get(0), try row.get(1), try row.get(2), try row.get(3))
            }
            if rows.count < Int(page) { return true }
        }
    }

    /// Shows the rejected events of a batch and why. The same raw event is kept once, and only so many a day. The other
    /// rejected events no longer have an app and an install, so only their number is shown.
    private func showRejected(
        of batch: Batch, count: Int64, on connection: inout Connection, _ show: (Line) -> Bool
    ) throws(PostgresError) -> Bool {
        let views = Views(of: cell)
        var (after, shown): (Int64, Int64) = (0, 0)
        while true {
            let rows = try connection.queryPrepared(
                """
                SELECT rejection,
                    concat_ws('  ', batch, to_char(received_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), app, 'rejected',
                        install_id, reason || ': ' || detail, 'key=' || key),
                    (jsonb_build_object('result', 'rejected') || jsonb_strip_nulls(to_jsonb(r)))::text
                FROM (
                    SELECT rejection, batch, received_at, app, key, install_id, event_id, reason, detail,
                        nullif(\(sql: views.cell), '') AS cell
                    FROM \(sql: views.rejected) WHERE batch = \(batch.number) AND \(sql: views.cell) = \(cell ?? "")
                        AND (\(filter.app) IS NULL OR app = \(filter.app))
                        AND (\(filter.install) IS NULL OR install_id = \(filter.install))
                        AND rejection > \(after)
                    ORDER BY rejection LIMIT \(page)
                ) AS r ORDER BY rejection
                """)
            for row in rows {
                guard show(line(try row.get(1), json: try row.get(2), of: batch, isRejected: true)) else {
                    return false
                }
                after = try row.get(0)
                shown += 1
            }
            if rows.count < Int(page) { break }
        }
        guard filter.isOpen, count > shown else { return true }
        let rest = count - shown
        var told: JSONObject = ["batch": batch.number, "not_kept": rest]
        if let cell { told = told.preceded(by: "cell", cell) }
        told = told.preceded(by: "result", "rejected")
        return show(
            line(
                "\(batch.number)  \(rest) more rejected, already kept or not kept: see bellwether rejected list",
                json: told.json, of: batch, isRejected: true))
    }

    private func line(_ text: String, json: String, of batch: Batch, isRejected: Bool = false) -> Line {
        Line(
            text: (cell.map { "\($0)  " } ?? "") + text, json: json, committedAt: batch.committedAt,
            isRejected: isRejected)
    }

    /// The columns that a line for people has after the first ones: which notification, what happened, what is left
    /// over.
    private static let shown: [String] =
        Member.allCases.filter { member in
            switch member.declaration.object {
            case .event: ![.eventID, .type, .deviceAt].contains(member)
            case .notification: [.category, .campaign, .thread].contains(member)
            case .media: true
            case .source, .settings: false
            }
        }.compactMap(\.declaration.column) + ["notification_key", "extra"]
}
