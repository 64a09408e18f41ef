internal import Postgres
internal import Values

/// The table of deliveries of one generation, which all its funnels count. Reads the rows that a step needs, and writes
/// the results.
package struct DeliveryTable {
    /// Its name among the projectors. It is built, stopped and rebuilt like them, but when it stops, nothing goes on.
    package static let projector = "deliveries"
    static let version: Int32 = 3
    package static let parent = "delivery"
    /// All tables of the fold.
    package static let parents = [parent, InstallDayTable.parent] + GoalTable.parents

    /// The number of the table and of its generation.
    let number: Int32
    /// The secret of its keys.
    let secret: UUID
    /// The goals that count for them.
    var goals: GoalTable

    init(number: Int32, secret: UUID, goalApps: [Int16: Set<Int32>] = [:]) {
        (self.number, self.secret) = (number, secret)
        goals = GoalTable(number: number, apps: goalApps)
    }

    var name: String { Self.name(number) }

    static func name(_ number: Int32) -> String { "delivery_\(number)" }

    /// The key by which the row of an event's delivery is found; `notificationKey` is the event's.
    func key(of event: StepEvent, _ notificationKey: Span<UInt8>) -> Int64 {
        DeliveryKey.of(notificationKey, install: event.install, app: event.app, secret: secret)
    }

    /// The key by which a row is found, together with its full name.
    func key(of name: Delivery.Name) -> Int64 { DeliveryKey.of(name, secret: secret) }

    /// Whether a row `d` has the name `asked`. The name is in a CASE so that the planner, which may have no statistics,
    /// sees only one way to the row: by its key.
    static let isNamed: StaticString = """
        d.key = asked.key AND CASE WHEN d.notification_key = asked.notification_key AND d.install_id = asked.install_id
            AND d.app = asked.app AND d.shard = asked.shard THEN true ELSE false END
        """

    /// The number of the table that analysts read; nil if there is none.
    static func live(on connection: inout Connection) throws(PostgresError) -> Int32? {
        let rows = try connection.query(
            """
            SELECT tables_generation FROM projection.projector
            WHERE generation = projection.chosen_generation(NULL) AND name = \(projector)
            """)
        return try rows.first?.get(0)
    }

    /// A delivery as stored.
    struct Stored {
        let delivery: Delivery
        /// Where its row is.
        let place: RowPlace
        /// The day of its first event by the app's present time zone. It differs from the stored one after a change of
        /// zone.
        let presentDay: CivilDate
    }

    /// Some stored deliveries.
    struct Part {
        /// Those that were asked for, each in its place; nil if it is not stored, or did not fit.
        var stored: [Stored?]
        /// The places of stored deliveries that did not fit, in order.
        var left: [Int] = []
        /// The goals of those deliveries, stored or not, whose apps have reached any.
        var goals: [Delivery.Name: DeliveryGoals] = [:]
    }

    /// Reads the stored ones among these until their states add up to a number of bytes. For each name it looks once at
    /// the index: of the rows with its key, it takes the one with its full name.
    func read(
        _ news: [DeliveryNews], atMost bytes: Int32 = Step.Limits().bytes, on connection: inout Connection
    ) throws(StepError) -> Part {
        let names = news.map(\.name)
        do {
            let rows = try connection.queryPrepared(
                """
                SELECT f.place::integer - 1, f.day, f.present_day, f.first_occurred_at, f.last_occurred_at, f.first_device_at,
                    f.last_device_at, f.ctid, CASE WHEN f.bytes <= \(bytes) OR f.row = 1 THEN f.state END
                FROM (
                    SELECT asked.place, d.ctid, d.day, (d.first_occurred_at AT TIME ZONE a.time_zone)::date AS present_day,
                        d.first_occurred_at, coalesce(d.last_occurred_at, d.first_occurred_at) AS last_occurred_at,
                        coalesce(d.first_device_at, d.first_occurred_at) AS first_device_at,
                        coalesce(d.last_device_at, d.last_occurred_at, d.first_occurred_at) AS last_device_at, d.state,
                        sum(octet_length(d.state)) OVER running AS bytes, row_number() OVER running AS row
                    FROM unnest(\(news.map(\.key)), \(names.map(\.notificationKey)), \(names.map(\.install)),
                        \(names.map(\.app)), \(names.map(\.shard)))
                        WITH ORDINALITY AS asked (key, notification_key, install_id, app, shard, place)
                    CROSS JOIN LATERAL (
                        SELECT d.ctid, d.* FROM projection.\(identifier: name) AS d
                        WHERE \(sql: Self.isNamed)
                        LIMIT 1
                    ) AS d
                    JOIN log.app AS a ON a.id = asked.app
                    WINDOW running AS (ROWS UNBOUNDED PRECEDING)
                ) AS f
                """)
            var part = Part(stored: Array(repeating: nil, count: news.count))
            if !goals.apps.isEmpty {
                let credits = try goals.credits(of: names, on: &connection)
                for name in names where goals.keeps(name) { part.goals[name] = DeliveryGoals(credits[name] ?? []) }
            }
            for row in 0..<rows.count {
                let place = Int(try need(rows.int32(row, 0)))
                let name = names[place]
                if try rows.bytea(row, 8) == nil {
                    part.left.append(place)
                } else {
                    part.stored[place] = try Stored(name, row, of: rows, startingAt: 1, goals: part.goals[name])
                }
            }
            part.left.sort()
            return part
        } catch { throw StepError(error) }
    }

    /// Reads all of them, part by part.
    func readAll(
        _ names: [Delivery.Name], on connection: inout Connection, _ body: ([Stored], inout Connection) throws -> Void
    ) throws {
        var rest = names.map { DeliveryNews(key: key(of: $0), name: $0) }
        while !rest.isEmpty {
            let part = try read(rest, on: &connection)
            try body(part.stored.compactMap { $0 }, &connection)
            rest = part.left.map { rest[$0] }
        }
    }

    /// Writes new deliveries, and changed ones in place of their old rows. A page that is touched costs more than the
    /// columns that change, and an UPDATE of all of them costs more than new rows.
    func write(_ changes: Changes, on connection: inout Connection) throws(PostgresError) {
        try connection.replace(changes.places, in: name, DeliveryColumns.names, count: changes.written) { rows in
            for delivery in changes.updated { rows.append(delivery, to: self) }
            for delivery in changes.inserted { rows.append(delivery, to: self) }
        }
    }

    /// Deletes deliveries.
    func delete(_ names: [Delivery.Name], on connection: inout Connection) throws(PostgresError) {
        guard !names.isEmpty else { return }
        try connection.queryPrepared(
            """
            DELETE FROM projection.\(identifier: name) AS d
            USING unnest(\(names.map(key)), \(names.map(\.notificationKey)), \(names.map(\.install)), \(names.map(\.app)),
                \(names.map(\.shard))) AS asked (key, notification_key, install_id, app, shard)
            WHERE \(sql: Self.isNamed)
            """)
    }
}

extension DeliveryTable.Stored {
    /// Reads the columns day, present day, the four times, place and state, in this order.
    init(
        _ name: Delivery.Name, _ row: Int, of rows: Rows, startingAt column: Int, goals: DeliveryGoals?
    ) throws {
        let span = DeliveryState.Span(
            firstOccurredAt: try need(rows.timestamp(row, column + 2)),
            lastOccurredAt: try need(rows.timestamp(row, column + 3)),
            firstDeviceAt: try need(rows.timestamp(row, column + 4)),
            lastDeviceAt: try need(rows.timestamp(row, column + 5)))
        guard let state = DeliveryState(encoded: try need(rows.bytea(row, column + 7)), span: span) else {
            throw StepError.unreadableDelivery("\(name.notificationKey) of install \(name.install)")
        }
        delivery = Delivery(name, day: try need(rows.day(row, column)), state: state, goals: goals)
        presentDay = try need(rows.day(row, column + 1))
        place = try need(rows.place(row, column + 6))
    }
}

extension Delivery.Name {
    /// Reads rows of notification key, install, app and shard.
    static func all(_ rows: Rows) throws(PostgresError) -> [Delivery.Name] {
        var names: [Delivery.Name] = []
        for row in 0..<rows.count {
            names.append(
                Delivery.Name(
                    app: try need(rows.int32(row, 2)), shard: try need(rows.int16(row, 3)),
                    install: try need(rows.uuid(row, 1)), notificationKey: try need(rows.text(row, 0))))
        }
        return names
    }
}
