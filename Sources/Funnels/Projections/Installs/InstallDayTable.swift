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

    private static let columns: StaticString = """
        d.first_at, coalesce(d.first_device_at, d.first_at), coalesce(d.last_device_at, d.last_at, d.first_at), d.state,
            d.codes, d.muted_category, d.muted_campaign, d.ctid
        """

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
            SELECT asked.place::integer - 1, \(sql: Self.columns)
            FROM unnest(\(asked.map(\.key)), \(names.map(\.install)), \(names.map(\.day)), \(names.map(\.app)),
                \(names.map(\.shard))) WITH ORDINALITY AS asked (key, install_id, day, app, shard, place)
            CROSS JOIN LATERAL (
                SELECT d.ctid, d.* FROM projection.\(identifier: name) AS d
                WHERE \(sql: Self.isNamed)
                LIMIT 1
            ) AS d
            """)
        var days = [Stored?](repeating: nil, count: names.count)
        for row in 0..<rows.count {
            let place = Int(try need(rows.int32(row, 0)))
            let name = names[place]
            guard
                let state = InstallDayState(
                    encoded: try need(rows.bytea(row, 4)), firstAt: try need(rows.timestamp(row, 1)),
                    firstDeviceAt: try need(rows.timestamp(row, 2)), lastDeviceAt: try need(rows.timestamp(row, 3)))
            else { throw StepError.unreadableDelivery("day \(name.day) of install \(name.install)") }
            var day = InstallDay(name, state: state)
            if day.facts.turnedOff != nil {
                day.muted =
                    try need(rows.int16(row, 5)) & Self.afterNothing != 0
                    ? .afterNothing
                    : .after(
                        Sighting.Receipt(category: try rows.int32(row, 6) ?? 0, campaign: try rows.int32(row, 7) ?? 0))
            }
            days[place] = Stored(day: day, place: try need(rows.place(row, 8)))
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
            SELECT asked.place::integer - 1, d.day
            FROM unnest(\(installs.map(\.install.install)), \(installs.map(\.install.app)), \(installs.map(\.first)),
                \(installs.map(\.last))) WITH ORDINALITY AS asked (install_id, app, first, last, place)
            CROSS JOIN LATERAL (
                SELECT d.day FROM projection.\(identifier: name) AS d
                WHERE d.install_id = asked.install_id AND d.turned_off_at IS NOT NULL AND d.app = asked.app
                    AND d.day BETWEEN asked.first AND asked.last
                OFFSET 0
            ) AS d
            """)
        var names: [InstallDay.Name] = []
        for row in 0..<rows.count {
            names.append(installs[Int(try need(rows.int32(row, 0)))].install.on(try need(rows.day(row, 1))))
        }
        return names
    }

    /// Writes new days, and changed ones in place of their old rows.
    func write(_ changes: InstallChanges, on connection: inout Connection) throws(PostgresError) {
        try connection.replace(
            changes.places, in: name, Self.names, count: changes.inserted.count + changes.updated.count
        ) { rows in
            for day in changes.updated { rows.append(day, to: self) }
            for day in changes.inserted { rows.append(day, to: self) }
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

    /// SQL for the rows of a table with the omitted values restored, as a recount gives them.
    static func opened(_ number: Int32) -> String {
        """
        (SELECT d.app, d.install_id, d.day, d.shard, d.first_at, coalesce(d.last_at, d.first_at) AS last_at, d.turned_off_at,
            d.changed_at, d.platform, d.app_version, d.os_version, d.device_model, d.locale, d.time_zone, d.muted_category,
            d.muted_campaign, nullif(d.codes & 7, 0)::smallint AS "authorization",
            nullif(d.codes >> 3 & 7, 0)::smallint AS changed_to, d.codes >> 6 & 7 AS flags,
            nullif(d.codes >> 9 & 3, 0)::smallint AS reach
        FROM projection.\(name(number)) AS d)
        """
    }

    /// Bits of `codes`: 3 for the authorization, 3 for what the last change changed to, turned off, turned on, whether
    /// the install had received nothing when it turned notifications off, and 2 for the reach.
    static let off: Int16 = 1 << 6
    static let on: Int16 = 1 << 7
    static let afterNothing: Int16 = 1 << 8

    fileprivate static let names = [
        "key", "first_at", "last_at", "first_device_at", "last_device_at", "turned_off_at", "changed_at", "install_id",
        "generation", "app", "day", "platform", "app_version", "os_version", "device_model", "locale", "time_zone",
        "muted_category", "muted_campaign", "codes", "shard", "state",
    ]
}

/// A day of an install as its row holds it: nil if another column says the same.
private struct InstallDayRow {
    let firstAt: Timestamp
    let lastAt: Timestamp?
    let firstDeviceAt: Timestamp?
    let lastDeviceAt: Timestamp?
    let turnedOffAt: Timestamp?
    let changedAt: Timestamp?
    let device: DeviceWords
    let receipt: Sighting.Receipt
    let codes: Int16

    init(_ day: InstallDay) {
        let facts = day.facts
        func unless(_ known: Timestamp, _ time: Timestamp) -> Timestamp? { time == known ? nil : time }
        firstAt = facts.firstAt
        lastAt = unless(facts.firstAt, facts.lastAt)
        firstDeviceAt = unless(facts.firstAt, day.state.firstDeviceAt)
        lastDeviceAt = unless(facts.lastAt, day.state.lastDeviceAt)
        turnedOffAt = facts.turnedOff?.occurredAt
        changedAt = facts.changedAt
        device = facts.device
        var codes = facts.device.authorization | facts.changedTo << 3 | facts.device.reach << 9
        if facts.turnedOff != nil { codes |= InstallDayTable.off }
        if facts.isTurnedOn { codes |= InstallDayTable.on }
        if day.muted == .afterNothing { codes |= InstallDayTable.afterNothing }
        self.codes = codes
        receipt =
            if case .after(let receipt) = day.muted { receipt } else { Sighting.Receipt(category: 0, campaign: 0) }
    }
}

extension InstallDay.Name {
    /// Reads rows of app, shard, install and day.
    static func all(_ rows: Rows) throws(PostgresError) -> [InstallDay.Name] {
        var names: [InstallDay.Name] = []
        for row in 0..<rows.count {
            names.append(
                InstallDay.Name(
                    app: try need(rows.int32(row, 0)), shard: try need(rows.int16(row, 1)),
                    install: try need(rows.uuid(row, 2)), day: try need(rows.day(row, 3))))
        }
        return names
    }
}

extension CopyRows {
    /// One day of an install as one row, in the order of `names`.
    fileprivate mutating func append(_ day: InstallDay, to table: InstallDayTable) {
        let row = InstallDayRow(day)
        func said(_ id: Int32) -> Int32? { id == 0 ? nil : id }
        beginRow()
        append(table.key(of: day.name))
        append(row.firstAt)
        append(row.lastAt)
        append(row.firstDeviceAt)
        append(row.lastDeviceAt)
        append(row.turnedOffAt)
        append(row.changedAt)
        append(day.name.install)
        append(table.number)
        append(day.name.app)
        append(day.name.day)
        for place in 0..<6 { append(said(row.device[place])) }
        append(said(row.receipt.category))
        append(said(row.receipt.campaign))
        append(row.codes)
        append(day.name.shard)
        append(bytes: day.state.encoded())
    }
}
