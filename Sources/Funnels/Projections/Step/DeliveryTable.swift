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
        try connection.query(
            """
            SELECT tables_generation FROM projection.projector
            WHERE generation = projection.chosen_generation(NULL) AND name = \(projector)
            """
        ).valueIfAny()
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
                SELECT f.place::integer - 1 AS place, f.day, f.present_day, f.first_occurred_at, f.last_occurred_at,
                    f.first_device_at, f.last_device_at, f.ctid,
                    CASE WHEN f.bytes <= \(bytes) OR f.row = 1 THEN f.state END AS state
                FROM (
                    SELECT asked.place, d.ctid, d.day, (d.first_occurred_at AT TIME ZONE a.time_zone)::date AS present_day,
                        \(declared: Self.spanColumns), d.state,
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
            let columns = try Columns(rows)
            for row in rows.indices {
                let place = Int(try columns.place.get(row))
                let name = names[place]
                part.stored[place] = try columns.stored(row, name, goals: part.goals[name])
                if part.stored[place] == nil { part.left.append(place) }
            }
            part.left.sort()
            return part
        } catch { throw StepError(error) }
    }

    private static let spanColumns = layout.opened(
        "first_occurred_at", "last_occurred_at", "first_device_at", "last_device_at")

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
        try connection.replace(changes.places, in: name, Self.layout, count: changes.written) { rows in
            for delivery in changes.updated { rows.append(row: DeliveryRow(delivery, in: self)) }
            for delivery in changes.inserted { rows.append(row: DeliveryRow(delivery, in: self)) }
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

/// The columns from which stored deliveries are read.
private struct Columns {
    let place: Rows.Column<Int32>
    private let day, presentDay: Rows.Column<CivilDate>
    private let firstOccurredAt, lastOccurredAt, firstDeviceAt, lastDeviceAt: Rows.Column<Timestamp>
    private let ctid: Rows.Column<RowPlace>
    private let state: Rows.Column<Bytea>

    init(_ rows: Rows) throws(PostgresError) {
        place = try rows.column("place")
        (day, presentDay) = (try rows.column("day"), try rows.column("present_day"))
        (firstOccurredAt, lastOccurredAt) = (
            try rows.column("first_occurred_at"), try rows.column("last_occurred_at")
        )
        (firstDeviceAt, lastDeviceAt) = (try rows.column("first_device_at"), try rows.column("last_device_at"))
        (ctid, state) = (try rows.column("ctid"), try rows.column("state"))
    }

    /// Nil if its state did not fit.
    func stored(_ row: Int, _ name: Delivery.Name, goals: DeliveryGoals?) throws -> DeliveryTable.Stored? {
        guard let bytes = try state.optional(row)?.bytes else { return nil }
        let span = DeliveryState.Span(
            firstOccurredAt: try firstOccurredAt.get(row), lastOccurredAt: try lastOccurredAt.get(row),
            firstDeviceAt: try firstDeviceAt.get(row), lastDeviceAt: try lastDeviceAt.get(row))
        guard let state = DeliveryState(encoded: bytes, span: span) else {
            throw StepError.unreadableDelivery("\(name.notificationKey) of install \(name.install)")
        }
        return DeliveryTable.Stored(
            delivery: Delivery(name, day: try day.get(row), state: state, goals: goals), place: try ctid.get(row),
            presentDay: try presentDay.get(row))
    }
}

extension Delivery.Name {
    /// Reads rows of app, shard, install and notification key.
    static func all(_ rows: Rows) throws(PostgresError) -> [Delivery.Name] {
        let app = try rows.column("app", as: Int32.self)
        let shard = try rows.column("shard", as: Int16.self)
        let install = try rows.column("install_id", as: UUID.self)
        let key = try rows.column("notification_key", as: String.self)
        var names: [Delivery.Name] = []
        for row in rows.indices {
            names.append(
                Delivery.Name(
                    app: try app.get(row), shard: try shard.get(row), install: try install.get(row),
                    notificationKey: try key.get(row)))
        }
        return names
    }
}
