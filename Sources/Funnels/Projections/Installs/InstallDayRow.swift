internal import Telemetry
internal import Values

/// A day of an install as its row holds it.
struct InstallDayRow: StoredRow {
    let key: Int64
    let generation: Int32
    let day: InstallDay

    init(_ day: InstallDay, in table: InstallDayTable) {
        (key, generation, self.day) = (table.key(of: day.name), table.number, day)
    }

    private var device: DeviceWords { day.facts.device }

    private var receipt: Sighting.Receipt? {
        if case .after(let receipt) = day.muted { receipt } else { nil }
    }

    private var flags: InstallDayFlags {
        var flags: InstallDayFlags = []
        if day.facts.turnedOff != nil { flags.insert(.turnedOff) }
        if day.facts.isTurnedOn { flags.insert(.turnedOn) }
        if day.muted == .afterNothing { flags.insert(.receivedNothing) }
        return flags
    }

    /// Places of bits are frozen, since stored rows hold them: a new member comes last.
    static func columns<Sink: RowSink>(_ row: inout Sink) where Sink.Row == InstallDayRow {
        row.put("key", .plain, .own) { $0.key }
        row.put("generation", .plain, .own) { $0.generation }
        row.put("app", .app, .name) { $0.day.name.app }
        row.put("shard", .plain, .own) { $0.day.name.shard }
        row.put("install_id", .plain, .name) { $0.day.name.install }
        row.put("day", .plain, .name) { $0.day.name.day }
        row.word("platform") { $0.device[.platform] }
        row.word("app_version") { $0.device[.appVersion] }
        row.word("os_version") { $0.device[.osVersion] }
        row.word("device_model") { $0.device[.deviceModel] }
        row.word("locale") { $0.device[.locale] }
        row.word("time_zone") { $0.device[.timeZone] }
        // Of the last receipt before notifications were turned off.
        row.word("muted_category") { $0.receipt?.category ?? 0 }
        row.word("muted_campaign") { $0.receipt?.campaign ?? 0 }
        row.bits(3, "authorization", .code(Authorization.allCases.map(\.wire))) { $0.device.authorization }
        row.bits(3, "changed_to", .code(Authorization.allCases.map(\.wire))) { $0.day.facts.changedTo }
        row.bits(3, "flags", .flags(InstallDayFlags.names)) { $0.flags.rawValue }
        row.bits(2, "reach", .code(Reach.allCases.map(\.wire))) { $0.device.reach }
        row.packed("codes", as: Int16.self)
        row.put("first_at", .time) { $0.first }
        row.time("last_at", or: "first_at", { $0.first }) { $0.last }
        // They only say where to look.
        row.time("first_device_at", .own, or: "first_at", { $0.first }) { $0.day.state.firstDeviceAt }
        row.time("last_device_at", .own, or: "last_at", { $0.last }) { $0.day.state.lastDeviceAt }
        row.put("turned_off_at", .time) { $0.day.facts.turnedOff?.occurredAt }
        row.put("changed_at", .time) { $0.day.facts.changedAt }
        row.put("state", .plain, .own) { $0.day.state.encoded() }
    }

    fileprivate var first: Timestamp { day.facts.firstAt }
    fileprivate var last: Timestamp { day.facts.lastAt }
}

extension InstallDayTable {
    package static let layout = RowLayout.of(InstallDayRow.self)

    /// The opened rows of all tables, as a view.
    package static let openedView = layout.view(
        of: parent, "Days of installs with a column for each fact: ids of log.word, codes as in log.opened_event")

    /// SQL for the rows of a table with a column for each fact.
    static func opened(_ number: Int32) -> String { "(SELECT \(layout.all) FROM projection.\(name(number)) AS d)" }
}

/// What is true of an install's day. The bits are frozen: stored rows hold them.
struct InstallDayFlags: OptionSet {
    let rawValue: Int16

    static let turnedOff = InstallDayFlags(rawValue: 1)
    static let turnedOn = InstallDayFlags(rawValue: 2)
    /// Nothing in the 24 hours before it turned notifications off.
    static let receivedNothing = InstallDayFlags(rawValue: 4)

    static let names = ["turned_off", "turned_on", "received_nothing"]
}
