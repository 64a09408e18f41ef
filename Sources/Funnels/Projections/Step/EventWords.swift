internal import EventLog
internal import Postgres
internal import Telemetry

/// The words and codes of the devices and contexts that a lane's events name. It asks the log once for each, and keeps
/// the answers from step to step, as long as its connection lasts: rows of `log.device` and `log.context` never change
/// under one, and `log.head.words` tells when a word was merged or pruned.
final class EventWords {
    private var devices: [Device] = []
    private var contexts: [Attributes] = []
    /// Where those of the log are, by their ids.
    private var devicePlaces: [Int32: Int32] = [:]
    private var contextPlaces: [Int32: Int32] = [:]
    /// Those in the own rows of this step's events.
    private var looseDevices: [Device] = []
    private var looseContexts: [Attributes] = []
    /// What has a place and is not known yet.
    private var askedDevices: [Int32] = []
    private var askedContexts: [Int32] = []
    private var askedWords: Set<Int32> = []
    /// For each merged word, the word that it counts as.
    private var merged: [Int32: Int32] = [:]
    /// The words of which it is known whether they were merged.
    private var known: Set<Int32> = []
    /// `log.head.words` when all this was learned.
    private var edition: Int32?

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

        /// What installs show of it.
        var words: DeviceWords { DeviceWords(attributes, timeZone: timeZone) }
    }

    /// Where a device or a context is.
    struct Place {
        fileprivate let number: Int32

        /// Of an event that names none.
        static let nothing = Place(number: 0)
    }

    init() { forget() }

    /// The most devices, contexts and words that are kept for later steps.
    private static let most = 100_000

    /// Begins a step whose batches were looked up when `log.head.words` was this.
    func begin(at edition: Int32?) {
        if edition != self.edition || devices.count + contexts.count + known.count > Self.most { forget() }
        self.edition = edition
        (looseDevices, looseContexts) = ([], [])
    }

    /// Forgets everything.
    func forget() {
        // The first place is for what events do not say.
        (devices, contexts) = ([Device()], [Attributes()])
        (devicePlaces, contextPlaces, merged, known) = ([:], [:], [:], [])
        (looseDevices, looseContexts, askedDevices, askedContexts, askedWords) = ([], [], [], [], [])
        edition = nil
    }

    func place(ofDevice id: Int32) -> Place {
        if let place = devicePlaces[id] { return Place(number: place) }
        let place = Int32(devices.count)
        devicePlaces[id] = place
        devices.append(Device())
        askedDevices.append(id)
        return Place(number: place)
    }

    func place(ofContext id: Int32) -> Place {
        if let place = contextPlaces[id] { return Place(number: place) }
        let place = Int32(contexts.count)
        contextPlaces[id] = place
        contexts.append(Attributes())
        askedContexts.append(id)
        return Place(number: place)
    }

    /// A device in an event's own row: a JSON array in the order of the columns of `log.device`.
    func place(ofDeviceIn json: String) throws(PostgresError) -> Place {
        let members = try Self.members(of: json, in: .device)
        looseDevices.append(try device { members[$0] })
        return Place(number: -Int32(looseDevices.count))
    }

    func place(ofContextIn json: String) throws(PostgresError) -> Place {
        let members = try Self.members(of: json, in: .context)
        looseContexts.append(try context { members[$0] })
        return Place(number: -Int32(looseContexts.count))
    }

    /// Says that an event names a word.
    func mention(_ word: Int32) { if !known.contains(word) { askedWords.insert(word) } }

    func device(_ place: Place) -> Device {
        place.number >= 0 ? devices[Int(place.number)] : counted(looseDevices[Int(-place.number) - 1])
    }

    func context(_ place: Place) -> Attributes {
        place.number >= 0 ? contexts[Int(place.number)] : counted(looseContexts[Int(-place.number) - 1])
    }

    /// Asks for what has a place and is not known yet. Each id is looked up by its key, however many there are and
    /// whatever the statistics say.
    func learn(on connection: inout Connection) throws(PostgresError) {
        guard !askedDevices.isEmpty || !askedContexts.isEmpty || !askedWords.isEmpty else { return }
        let answers = try connection.pipeline([
            """
            SELECT d.id, d.platform, d.app_version, d.os_version, d.device_model, d.locale, d.time_zone, d."authorization",
                d.setting_alerts, d.setting_lock_screen, d.setting_scheduled_summary
            FROM unnest(\(askedDevices.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.device AS d WHERE d.id = asked.id LIMIT 1) AS d
            """,
            """
            SELECT c.id, c.category, c.thread, c.campaign, c.variant, c.analytics_label, c.topic, c.interruption_level
            FROM unnest(\(askedContexts.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.context AS c WHERE c.id = asked.id LIMIT 1) AS c
            """,
        ])
        let foundDevices = try each(of: answers[0]) { member throws(PostgresError) in try device(member) }
        let foundContexts = try each(of: answers[1]) { member throws(PostgresError) in try context(member) }
        // Few words are ever merged, and an index has only those.
        let merges = try connection.queryPrepared(
            "SELECT id, counts_as FROM log.word WHERE id = ANY (\(askedWords.sorted())) AND counts_as IS NOT NULL")
        for row in merges { merged[try row.get("id")] = try row.get("counts_as") }
        known.formUnion(askedWords)
        for id in askedDevices {
            guard let device = foundDevices[id], let place = devicePlaces[id] else {
                throw .decoding("an event names device \(id), which the log does not know")
            }
            devices[Int(place)] = counted(device)
        }
        for id in askedContexts {
            guard let context = foundContexts[id], let place = contextPlaces[id] else {
                throw .decoding("an event names context \(id), which the log does not know")
            }
            contexts[Int(place)] = counted(context)
        }
        (askedDevices, askedContexts, askedWords) = ([], [], [])
    }

    /// A member of a device or context, by the name of its column.
    private typealias Members = (String) throws(PostgresError) -> Int32?

    /// Makes something of each row, by its id.
    private func each<Found>(
        of rows: Rows, _ make: (Members) throws(PostgresError) -> Found
    ) throws(PostgresError) -> [Int32: Found] {
        let id = try rows.column("id", as: Int32.self)
        var columns: [String: Rows.Column<Int32>] = [:]
        for name in rows.columnNames { columns[name] = try rows.column(name) }
        var found: [Int32: Found] = [:]
        for row in rows.indices {
            found[try id.get(row)] = try make { name throws(PostgresError) in try columns[name]?.get(row) }
        }
        return found
    }

    /// Where the words of a device and of a context go, by their columns.
    private static let deviceWords: [(column: String, word: any WritableKeyPath<Device, Int32> & Sendable)] = [
        ("platform", \.attributes.platform), ("app_version", \.attributes.appVersion),
        ("os_version", \.attributes.osVersion), ("device_model", \.attributes.deviceModel),
        ("locale", \.attributes.locale), ("time_zone", \.timeZone),
    ]
    private static let contextWords: [(column: String, word: any WritableKeyPath<Attributes, Int32> & Sendable)] = [
        ("category", \.category), ("thread", \.thread), ("campaign", \.campaign), ("variant", \.variant),
        ("analytics_label", \.analyticsLabel), ("topic", \.topic), ("interruption_level", \.interruptionLevel),
    ]

    private func device(_ members: Members) throws(PostgresError) -> Device {
        func setting(_ name: String) throws(PostgresError) -> Setting? {
            Setting(rawValue: Int16(truncatingIfNeeded: try Self.member(name, members)))
        }
        var device = Device()
        for (column, word) in Self.deviceWords { device[keyPath: word] = try self.word(column, members) }
        device.settings.alerts = try setting("setting_alerts")
        device.settings.lockScreen = try setting("setting_lock_screen")
        device.settings.scheduledSummary = try setting("setting_scheduled_summary")
        device.allow(Int16(truncatingIfNeeded: try Self.member("authorization", members)))
        return device
    }

    private func context(_ members: Members) throws(PostgresError) -> Attributes {
        var context = Attributes()
        for (column, word) in Self.contextWords { context[keyPath: word] = try self.word(column, members) }
        return context
    }

    private func word(_ name: String, _ members: Members) throws(PostgresError) -> Int32 {
        let word = try Self.member(name, members)
        mention(word)
        return word
    }

    /// An id or a code. States store them without a sign, so nobody may have written a negative one by hand.
    private static func member(_ name: String, _ members: Members) throws(PostgresError) -> Int32 {
        guard let id = try members(name) else { throw .decoding("a device or context has no \(name)") }
        guard id >= 0 else { throw .decoding("a device or context has \(id) for its \(name), which is no id") }
        return id
    }

    private func counted(_ device: Device) -> Device {
        var device = device
        for (_, word) in Self.deviceWords { device[keyPath: word] = counted(device[keyPath: word]) }
        return device
    }

    private func counted(_ context: Attributes) -> Attributes {
        var context = context
        for (_, word) in Self.contextWords { context[keyPath: word] = counted(context[keyPath: word]) }
        return context
    }

    /// The word that this one counts as.
    func counted(_ word: Int32) -> Int32 { merged.isEmpty ? word : merged[word] ?? word }

    private static let deviceColumns = Combination.columns(of: .device)
    private static let contextColumns = Combination.columns(of: .context)

    /// What a JSON array has for the columns of a dictionary.
    private static func members(
        of json: String, in dictionary: Combination.Dictionary
    ) throws(PostgresError) -> [String: Int32] {
        let members = json.dropFirst().dropLast().split(separator: ",").compactMap {
            Int32($0.trimmingPrefix(" "))
        }
        let columns = dictionary == .device ? deviceColumns : contextColumns
        guard members.count >= columns.count, members.allSatisfy({ $0 >= 0 }) else {
            throw .decoding("an event has an impossible reference to its device or context")
        }
        return Dictionary(uniqueKeysWithValues: zip(columns, members))
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
