package import Postgres
internal import Telemetry
package import Values

/// Stores sends: each once, for ever, by its id.
package enum SendStore {
    /// With which key, and when, sends arrived; without a key they were imported.
    package struct Arrival: Sendable {
        package let app: Int32
        package let key: Int32?
        package let receivedAt: Timestamp

        package init(app: Int32, key: Int32?, receivedAt: Timestamp) {
            (self.app, self.key, self.receivedAt) = (app, key, receivedAt)
        }
    }

    /// Stores the new ones, all or nothing; nothing if the key that they came with is closed by then (`keyClosed`).
    /// Returns true for each new one; of several with the same id the first is the new one.
    package static func append(
        _ sends: [Send], _ arrival: Arrival, on connection: inout Connection
    ) throws(PostgresError) -> [Bool] {
        // By their bytes: to `String` two spellings of "é" are the same id, and the second send would be lost.
        var places: [[UInt8]: Int] = [:]
        for (index, send) in sends.enumerated() where places[Array(send.id.utf8)] == nil {
            places[Array(send.id.utf8)] = index
        }
        // In a fixed order: otherwise two sessions that store the same sends would wait for each other.
        let first = places.values.sorted { sends[$0].id.utf8.lexicographicallyPrecedes(sends[$1].id.utf8) }
        guard !first.isEmpty else { return [] }
        var isNew = [Bool](repeating: false, count: sends.count)
        try connection.transaction { connection throws(PostgresError) in
            let numbers = try insert(first.map { sends[$0] }, arrival, on: &connection)
            var added: [(number: Int64, send: Send)] = []
            for index in first {
                guard let number = numbers[Array(sends[index].id.utf8)] else { continue }
                isNew[index] = true
                added.append((number, sends[index]))
            }
            try insertMessages(added, app: arrival.app, on: &connection)
            try insertPages(added, on: &connection)
            if let key = arrival.key { try connection.query("SELECT log.require_open_key(\(key))") }
        }
        return isNew
    }

    /// The tables that a cluster's cells have in common, those that others refer to first.
    package static let sharedTables = [
        SharedTable("sends.send", key: ["number"]),
        SharedTable("sends.send_message", key: ["message_key", "app", "send"]),
        SharedTable("sends.story_page", key: ["send", "declared_index"]),
    ]

    /// The rows of some sends, for the other cells of a cluster.
    package static func rows(
        of ids: [String], app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [SharedTable.Rows] {
        let (app, ids) = (Statement.Parameter(app), Statement.Parameter(ids))
        var rows: [SharedTable.Rows] = []
        for table in sharedTables {
            rows.append(
                table.name == "sends.send"
                    ? try table.rows(where: "app = $1 AND id = ANY ($2)", app, ids, on: &connection)
                    : try table.rows(
                        where: "send = ANY (ARRAY(SELECT number FROM sends.send WHERE app = $1 AND id = ANY ($2)))",
                        app,
                        ids, on: &connection))
        }
        return rows
    }

    /// The numbers of the new ones, by the bytes of their ids.
    private static func insert(
        _ sends: [Send], _ arrival: Arrival, on connection: inout Connection
    ) throws(PostgresError) -> [[UInt8]: Int64] {
        let rows = try connection.query(
            """
            INSERT INTO sends.send (app, key, received_at, id, sent_at, recipients, messages, campaign, variant,
                category, thread, topic, analytics_label, story, payload)
            SELECT \(arrival.app), \(arrival.key), \(arrival.receivedAt), *
            FROM unnest(\(sends.map(\.id)), \(sends.map { $0.sentAt ?? arrival.receivedAt }),
                \(Nullables(sends.map(\.recipients))),
                \(Nullables(sends.map { $0.messageIDs.map { Int32($0.count) } })),
                \(sends.map { $0.campaign ?? "" }), \(sends.map { $0.variant ?? "" }),
                \(sends.map { $0.category ?? "" }), \(sends.map { $0.thread ?? "" }), \(sends.map { $0.topic ?? "" }),
                \(sends.map { $0.analyticsLabel ?? "" }), \(Nullables(sends.map { $0.story?.outcome })),
                \(Nullables(sends.map { $0.payload.map { JSONB($0) } })))
            ON CONFLICT (app, id) DO NOTHING
            RETURNING number, id
            """)
        var numbers: [[UInt8]: Int64] = [:]
        for row in rows { numbers[Array(try row.get(1, as: String.self).utf8)] = try row.get(0) }
        return numbers
    }

    private static func insertMessages(
        _ added: [(number: Int64, send: Send)], app: Int32, on connection: inout Connection
    ) throws(PostgresError) {
        var (numbers, keys, spellings): ([Int64], [String], [String?]) = ([], [], [])
        for (number, send) in added {
            for id in send.messageIDs ?? [] {
                numbers.append(number)
                keys.append(id.key)
                spellings.append(id.raw == id.key ? nil : id.raw)
            }
        }
        guard !numbers.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO sends.send_message (app, send, message_key, message_id)
            SELECT \(app), * FROM unnest(\(numbers), \(keys), \(Nullables(spellings)))
            """)
    }

    private static func insertPages(
        _ added: [(number: Int64, send: Send)], on connection: inout Connection
    ) throws(PostgresError) {
        let pages = added.flatMap { number, send in (send.story?.pages ?? []).map { (send: number, page: $0) } }
        guard !pages.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO sends.story_page (send, declared_index, page_index, declared_ms, fault, title, subtitle,
                button_title, link, image)
            SELECT * FROM unnest(\(pages.map(\.send)), \(pages.map(\.page.declaredIndex)),
                \(Nullables(pages.map(\.page.pageIndex))), \(pages.map(\.page.milliseconds)),
                \(Nullables(pages.map { $0.page.fault?.rawValue })), \(Nullables(pages.map(\.page.title))),
                \(Nullables(pages.map(\.page.subtitle))), \(Nullables(pages.map(\.page.buttonTitle))),
                \(Nullables(pages.map(\.page.link))), \(Nullables(pages.map(\.page.image))))
            """)
    }
}
