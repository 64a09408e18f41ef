internal import Postgres
internal import Telemetry
internal import Values

/// The table of the days of installs of one generation. It belongs to the fold, as the deliveries do.
package struct InstallDayTable {
    package static let parent = "install_day"

    /// The number of the table and of its generation.
    let number: Int32
    /// The secret of its keys.
    let secret: UUID

    var name: String { Self.name(number) }

    static func name(_ number: Int32) -> String { "\(parent)_\(number)" }

    /// The number by which a row is found, together with its full name: the day, so that rows of today share pages,
    /// then a hash of the install with the secret of the generation, which nobody outside can choose.
    func key(of name: InstallDay.Name) -> Int64 {
        key(of: name.install, app: name.app, daySince1970: name.day.daysSince1970)
    }

    func key(of install: UUID, app: Int32, daySince1970 day: Int) -> Int64 {
        var hash = SipHash(key: secret)
        hash.add(install.high)
        hash.add(install.low)
        hash.add(UInt64(UInt32(bitPattern: app)))
        return Int64(day & 0x3F_FFFF) << 40 | Self.installBits(of: Int64(bitPattern: hash.value))
    }

    /// The part of a key that follows from the install.
    static func installBits(of key: Int64) -> Int64 { key & 0xFF_FFFF_FFFF }

    /// SQL for these bits of a row `d`. Hash tables over installs take it along, since ids that clients choose may all
    /// have one hash.
    static let installBits: StaticString = "(d.key & 1099511627775)"

    /// Whether a row `d` has the name `asked`. See `DeliveryTable.isNamed`.
    private static let isNamed: StaticString = """
        d.key = asked.key AND CASE WHEN d.install_id = asked.install_id AND d.day = asked.day AND d.app = asked.app
            AND d.shard = asked.shard THEN true ELSE false END
        """

    private static let columns = layout.opened(
        "first_at", "first_device_at", "last_device_at", "flags", "muted_category", "muted_campaign", "state")

    /// The stored ones among these.
    func stored(_ names: [InstallDay.Name], on connection: inout Connection) throws -> [InstallDay] {
        try read(names.map { (key(of: $0), $0) }, on: &connection).compactMap { $0?.day }
    }

    /// A day as stored, and where its row is.
    struct Stored {
        let day: InstallDay
        let place: RowPlace
    }

    /// These days as they are stored, nil for those that are not.
    func read(
        _ asked: [(key: Int64, name: InstallDay.Name)], on connection: inout Connection
    ) throws -> [Stored?] {
        guard !asked.isEmpty else { return [] }
        let names = asked.map(\.name)
        let rows = try connection.queryPrepared(
            """
            SELECT asked.place::integer - 1 AS place, d.ctid, \(declared: Self.columns)
            FROM unnest(\(asked.map(\.key)), \(names.map(\.install)), \(names.map(\.day)), \(names.map(\.app)),
                \(names.map(\.shard))) WITH ORDINALITY AS asked (key, install_id, day, app, shard, place)
            CROSS JOIN LATERAL (
                SELECT d.ctid, d.* FROM projection.\(identifier: name) AS d
                WHERE \(sql: Self.isNamed)
                LIMIT 1
            ) AS d
            """)
        let columns = try Columns(rows)
        var days = [Stored?](repeating: nil, count: names.count)
        for row in rows.indices {
            let place = Int(try columns.place.get(row))
            days[place] = Stored(day: try columns.day(row, names[place]), place: try columns.ctid.get(row))
        }
        return days
    }

    /// The days of these installs, from one day to another, on which notifications were turned off. There are few, and
    /// an index has only those.
    func muted(
        of installs: [(install: InstallDay.Name, first: CivilDate, last: CivilDate)], on connection: inout Connection
    ) throws(PostgresError) -> [InstallDay.Name] {
        guard !installs.isEmpty else { return [] }
        let rows = try connection.queryPrepared(
            """
            SELECT asked.place::integer - 1 AS place, d.day
            FROM unnest(\(installs.map(\.install.install)), \(installs.map(\.install.app)), \(installs.map(\.first)),
                \(installs.map(\.last))) WITH ORDINALITY AS asked (install_id, app, first, last, place)
            CROSS JOIN LATERAL (
                SELECT d.day FROM projection.\(identifier: name) AS d
                WHERE d.install_id = asked.install_id AND d.turned_off_at IS NOT NULL AND d.app = asked.app
                    AND d.day BETWEEN asked.first AND asked.last
                OFFSET 0
            ) AS d
            """)
        let place = try rows.column("place", as: Int32.self)
        let day = try rows.column("day", as: CivilDate.self)
        var names: [InstallDay.Name] = []
        for row in rows.indices { names.append(installs[Int(try place.get(row))].install.on(try day.get(row))) }
        return names
    }

    /// Writes new days, and changed ones in place of their old rows.
    func write(_ changes: InstallChanges, on connection: inout Connection) throws(PostgresError) {
        try connection.replace(
            changes.places, in: name, Self.layout, count: changes.inserted.count + changes.updated.count
        ) { rows in
            for day in changes.updated { rows.append(row: InstallDayRow(day, in: self)) }
            for day in changes.inserted { rows.append(row: InstallDayRow(day, in: self)) }
        }
    }

    func delete(_ names: [InstallDay.Name], on connection: inout Connection) throws(PostgresError) {
        guard !names.isEmpty else { return }
        try connection.queryPrepared(
            """
            DELETE FROM projection.\(identifier: name) AS d
            USING unnest(\(names.map(key)), \(names.map(\.install)), \(names.map(\.day)), \(names.map(\.app)),
                \(names.map(\.shard))) AS asked (key, install_id, day, app, shard)
            WHERE \(sql: Self.isNamed)
            """)
    }
}

/// The columns from which stored days are read.
private struct Columns {
    let place: Rows.Column<Int32>
    let ctid: Rows.Column<RowPlace>
    private let firstAt, firstDeviceAt, lastDeviceAt: Rows.Column<Timestamp>
    private let flags, mutedCategory, mutedCampaign: Rows.Column<Int32>
    private let state: Rows.Column<Bytea>

    init(_ rows: Rows) throws(PostgresError) {
        (place, ctid) = (try rows.column("place"), try rows.column("ctid"))
        (firstAt, state) = (try rows.column("first_at"), try rows.column("state"))
        (firstDeviceAt, lastDeviceAt) = (try rows.column("first_device_at"), try rows.column("last_device_at"))
        (flags, mutedCategory) = (try rows.column("flags"), try rows.column("muted_category"))
        mutedCampaign = try rows.column("muted_campaign")
    }

    func day(_ row: Int, _ name: InstallDay.Name) throws -> InstallDay {
        guard
            let state = InstallDayState(
                encoded: try state.get(row).bytes, firstAt: try firstAt.get(row),
                firstDeviceAt: try firstDeviceAt.get(row), lastDeviceAt: try lastDeviceAt.get(row))
        else { throw StepError.unreadableDelivery("day \(name.day) of install \(name.install)") }
        var day = InstallDay(name, state: state)
        if day.facts.turnedOff != nil {
            day.muted =
                InstallDayFlags(rawValue: Int16(truncatingIfNeeded: try flags.get(row))).contains(.receivedNothing)
                ? .afterNothing
                : .after(
                    Sighting.Receipt(
                        category: try mutedCategory.optional(row) ?? 0, campaign: try mutedCampaign.optional(row) ?? 0))
        }
        return day
    }
}

extension InstallDay.Name {
    /// Reads rows of app, shard, install and day.
    static func all(_ rows: Rows) throws(PostgresError) -> [InstallDay.Name] {
        let app = try rows.column("app", as: Int32.self)
        let shard = try rows.column("shard", as: Int16.self)
        let install = try rows.column("install_id", as: UUID.self)
        let day = try rows.column("day", as: CivilDate.self)
        var names: [InstallDay.Name] = []
        for row in rows.indices {
            names.append(
                InstallDay.Name(
                    app: try app.get(row), shard: try shard.get(row), install: try install.get(row),
                    day: try day.get(row)))
        }
        return names
    }
}
