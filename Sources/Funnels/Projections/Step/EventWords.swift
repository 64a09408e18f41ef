internal import Postgres
internal import Telemetry

/// The words and codes of the devices and contexts of a step's events, looked up once.
struct EventWords {
    private var devices: [Int32: Device] = [:]
    private var contexts: [Int32: Attributes] = [:]
    /// For each merged word, the word that it counts as.
    private var merged: [Int32: Int32] = [:]
    /// The words of which it is known whether they were merged.
    private var known: Set<Int32> = []

    /// A device: what deliveries take from it, and what only installs do.
    struct Device {
        var attributes = Attributes()
        var timeZone: Int32 = 0
        fileprivate var settings = Settings()

        /// Sets the authorization, from which the reach follows.
        mutating func allow(_ authorization: Int16) {
            attributes.authorization = authorization
            attributes.reach = Reach(Authorization(rawValue: authorization), settings)?.rawValue ?? 0
        }
    }

    /// The columns of rows that name words: ids of a device, of a context, and of an event's own word.
    struct Columns {
        let device: Int
        let context: Int
        let own: Int
        /// Devices and contexts that are stored in the event's own row.
        let looseDevice: Int
        let looseContext: Int
    }

    /// Reads what rows with these columns name. Each id is looked up by its key, however many there are and whatever
    /// the statistics say.
    init(of rows: Rows, _ columns: Columns, on connection: inout Connection) throws(PostgresError) {
        try learn(rows, columns, on: &connection)
    }

    /// Knows no words yet.
    init() {}

    /// The most devices and contexts that are kept for later rows.
    private static let most = 100_000

    /// Reads what these rows name and earlier ones did not. Within one snapshot words do not change.
    mutating func learn(_ rows: Rows, _ columns: Columns, on connection: inout Connection) throws(PostgresError) {
        if devices.count + contexts.count > Self.most { self = EventWords() }
        var (devices, contexts, words): (Set<Int32>, Set<Int32>, Set<Int32>) = ([], [], [])
        for row in 0..<rows.count {
            if let id = try rows.int32(row, columns.device), self.devices[id] == nil { devices.insert(id) }
            if let id = try rows.int32(row, columns.context), self.contexts[id] == nil { contexts.insert(id) }
            if let id = try rows.int32(row, columns.own), !known.contains(id) { words.insert(id) }
            for column in [columns.looseDevice, columns.looseContext] {
                if let loose = try rows.text(row, column) { words.formUnion(try Self.members(of: loose, count: 7)) }
            }
        }
        guard !devices.isEmpty || !contexts.isEmpty || !words.isEmpty else { return }
        let answers = try connection.pipeline([
            """
            SELECT d.id, d.platform, d.app_version, d.os_version, d.device_model, d.locale, d.time_zone, d."authorization",
                d.setting_alerts, d.setting_lock_screen, d.setting_scheduled_summary
            FROM unnest(\(devices.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.device AS d WHERE d.id = asked.id LIMIT 1) AS d
            """,
            """
            SELECT c.id, c.category, c.thread, c.campaign, c.variant, c.analytics_label, c.topic, c.interruption_level
            FROM unnest(\(contexts.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.context AS c WHERE c.id = asked.id LIMIT 1) AS c
            """,
        ])
        var (deviceMembers, contextMembers): ([Int32: [Int32]], [Int32: [Int32]]) = ([:], [:])
        for row in 0..<answers[0].count {
            var members: [Int32] = []
            for column in 1...10 { members.append(try Self.id(answers[0].int32(row, column))) }
            words.formUnion(members.prefix(6))
            deviceMembers[try need(answers[0].int32(row, 0))] = members
        }
        for row in 0..<answers[1].count {
            var members: [Int32] = []
            for column in 1...7 { members.append(try Self.id(answers[1].int32(row, column))) }
            words.formUnion(members)
            contextMembers[try need(answers[1].int32(row, 0))] = members
        }
        // Few words are ever merged, and an index has only those.
        let merges = try connection.queryPrepared(
            "SELECT id, counts_as FROM log.word WHERE id = ANY (\(words.sorted())) AND counts_as IS NOT NULL")
        for row in 0..<merges.count { merged[try need(merges.int32(row, 0))] = try need(merges.int32(row, 1)) }
        known.formUnion(words)
        for (id, members) in deviceMembers { self.devices[id] = device(members) }
        for (id, members) in contextMembers { self.contexts[id] = context(members) }
    }

    /// An id or a code of a device or context. States store them without a sign, so nobody may have written a negative
    /// one by hand.
    private static func id(_ id: Int32?) throws(PostgresError) -> Int32 {
        let id = try need(id)
        guard id >= 0 else { throw .decoding("a device or context has \(id) for a word, which is no id") }
        return id
    }

    /// The word that this one counts as.
    func counted(_ word: Int32) -> Int32 { merged.isEmpty ? word : merged[word] ?? word }

    private func device(_ members: [Int32]) -> Device {
        var attributes = Attributes()
        (attributes.platform, attributes.appVersion, attributes.osVersion) = (
            counted(members[0]), counted(members[1]), counted(members[2])
        )
        (attributes.deviceModel, attributes.locale) = (counted(members[3]), counted(members[4]))
        func setting(_ code: Int32) -> Setting? { Setting(rawValue: Int16(truncatingIfNeeded: code)) }
        var device = Device(attributes: attributes, timeZone: counted(members[5]))
        device.settings.alerts = setting(members[7])
        device.settings.lockScreen = setting(members[8])
        device.settings.scheduledSummary = setting(members[9])
        device.allow(Int16(truncatingIfNeeded: members[6]))
        return device
    }

    private func context(_ members: [Int32]) -> Attributes {
        let members = members.map(counted)
        var context = Attributes()
        (context.category, context.thread, context.campaign, context.variant) = (
            members[0], members[1], members[2], members[3]
        )
        (context.analyticsLabel, context.topic, context.interruptionLevel) = (members[4], members[5], members[6])
        return context
    }

    /// The device in an event's own row: a JSON array in the order of the columns of `log.device`.
    func device(in json: String) throws(PostgresError) -> Device {
        let members = try Self.members(of: json, count: 16)
        return device([
            members[0], members[1], members[2], members[4], members[5], members[6], members[7], members[9], members[10],
            members[15],
        ])
    }

    func context(in json: String) throws(PostgresError) -> Attributes {
        context(try Self.members(of: json, count: 7))
    }

    private static func members(of json: String, count: Int) throws(PostgresError) -> [Int32] {
        let members = json.dropFirst().dropLast().split(separator: ",").compactMap {
            Int32($0.trimmingPrefix(" "))
        }
        guard members.count >= count, members.allSatisfy({ $0 >= 0 }) else {
            throw .decoding("an event has an impossible reference to its device or context")
        }
        return members
    }

    func device(_ id: Int32) throws(PostgresError) -> Device {
        guard let device = devices[id] else {
            throw .decoding("an event names device \(id), which the log does not know")
        }
        return device
    }

    func context(_ id: Int32) throws(PostgresError) -> Attributes {
        guard let context = contexts[id] else {
            throw .decoding("an event names context \(id), which the log does not know")
        }
        return context
    }
}

/// The place of a member among the bits of `codes` or `own`, as the catalogue says.
struct EventBits {
    private let first: Int32
    private let mask: Int32

    func value(in field: Int32) -> Int16 { Int16(truncatingIfNeeded: field >> first & mask) }

    static func of(_ member: Member) -> EventBits { all[Int(member.rawValue)] }

    private static let all: [EventBits] = Member.allCases.map { member in
        switch member.declaration.storage {
        case .common(let bits), .own(let bits): EventBits(first: Int32(bits.first), mask: 1 << Int32(bits.count) - 1)
        default: EventBits(first: 0, mask: 0)
        }
    }
}
