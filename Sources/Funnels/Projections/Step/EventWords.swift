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
    private var looseDevices: [[Int32]] = []
    private var looseContexts: [[Int32]] = []
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
        let members = try Self.members(of: json, count: 16)
        looseDevices.append(
            [0, 1, 2, 4, 5, 6, 7, 9, 10, 15].map { members[$0] })
        for word in members.prefix(7) { mention(word) }
        return Place(number: -Int32(looseDevices.count))
    }

    func place(ofContextIn json: String) throws(PostgresError) -> Place {
        let members = try Self.members(of: json, count: 7)
        looseContexts.append(members)
        for word in members { mention(word) }
        return Place(number: -Int32(looseContexts.count))
    }

    /// Says that an event names a word.
    func mention(_ word: Int32) { if !known.contains(word) { askedWords.insert(word) } }

    func device(_ place: Place) -> Device {
        place.number >= 0 ? devices[Int(place.number)] : device(looseDevices[Int(-place.number) - 1])
    }

    func context(_ place: Place) -> Attributes {
        place.number >= 0 ? contexts[Int(place.number)] : context(looseContexts[Int(-place.number) - 1])
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
        let deviceMembers = try members(in: answers[0], count: 10, words: 6)
        let contextMembers = try members(in: answers[1], count: 7, words: 7)
        // Few words are ever merged, and an index has only those.
        let merges = try connection.queryPrepared(
            "SELECT id, counts_as FROM log.word WHERE id = ANY (\(askedWords.sorted())) AND counts_as IS NOT NULL")
        for row in 0..<merges.count { merged[try need(merges.int32(row, 0))] = try need(merges.int32(row, 1)) }
        known.formUnion(askedWords)
        for id in askedDevices {
            guard let members = deviceMembers[id], let place = devicePlaces[id] else {
                throw .decoding("an event names device \(id), which the log does not know")
            }
            devices[Int(place)] = device(members)
        }
        for id in askedContexts {
            guard let members = contextMembers[id], let place = contextPlaces[id] else {
                throw .decoding("an event names context \(id), which the log does not know")
            }
            contexts[Int(place)] = context(members)
        }
        (askedDevices, askedContexts, askedWords) = ([], [], [])
    }

    /// Reads rows of an id and so many members, of which the first ones are words.
    private func members(in rows: Rows, count: Int, words: Int) throws(PostgresError) -> [Int32: [Int32]] {
        var found: [Int32: [Int32]] = [:]
        for row in 0..<rows.count {
            var members: [Int32] = []
            for column in 1...count { members.append(try Self.id(rows.int32(row, column))) }
            for word in members.prefix(words) { mention(word) }
            found[try need(rows.int32(row, 0))] = members
        }
        return found
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

    private static func members(of json: String, count: Int) throws(PostgresError) -> [Int32] {
        let members = json.dropFirst().dropLast().split(separator: ",").compactMap {
            Int32($0.trimmingPrefix(" "))
        }
        guard members.count >= count, members.allSatisfy({ $0 >= 0 }) else {
            throw .decoding("an event has an impossible reference to its device or context")
        }
        return members
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
