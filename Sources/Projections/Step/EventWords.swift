internal import Postgres
internal import Telemetry

/// What the devices and contexts of a step's events stand for, asked for once.
struct EventWords {
    private var devices: [Int32: Attributes] = [:]
    private var contexts: [Int32: Attributes] = [:]

    /// Of rows that have the ids of device and context in these columns. Each is looked up by its key, however many there are
    /// and whatever the statistics say.
    init(of rows: Rows, device: Int, context: Int, on connection: inout Connection) throws(PostgresError) {
        var (devices, contexts): (Set<Int32>, Set<Int32>) = ([], [])
        for row in 0..<rows.count {
            if let id = try rows.int32(row, device) { devices.insert(id) }
            if let id = try rows.int32(row, context) { contexts.insert(id) }
        }
        guard !devices.isEmpty || !contexts.isEmpty else { return }
        let answers = try connection.pipeline([
            """
            SELECT d.id, d.platform, d.app_version, d.os_version, d.device_model, d.locale, d."authorization"
            FROM unnest(\(devices.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.device AS d WHERE d.id = asked.id LIMIT 1) AS d
            """,
            """
            SELECT c.id, c.category, c.campaign, c.variant, c.thread, c.interruption_level, c.topic, c.analytics_label
            FROM unnest(\(contexts.sorted())) AS asked (id)
            CROSS JOIN LATERAL (SELECT * FROM log.context AS c WHERE c.id = asked.id LIMIT 1) AS c
            """,
        ])
        for row in 0..<answers[0].count {
            func column(_ place: Int) throws(PostgresError) -> Int32 { try need(answers[0].int32(row, place)) }
            var device = Attributes()
            device.platform = try column(1)
            device.appVersion = try column(2)
            device.osVersion = try column(3)
            device.deviceModel = try column(4)
            device.locale = try column(5)
            device.authorization = Int16(truncatingIfNeeded: try column(6))
            self.devices[try column(0)] = device
        }
        for row in 0..<answers[1].count {
            func column(_ place: Int) throws(PostgresError) -> Int32 { try need(answers[1].int32(row, place)) }
            var context = Attributes()
            context.category = try column(1)
            context.campaign = try column(2)
            context.variant = try column(3)
            context.thread = try column(4)
            context.interruptionLevel = try column(5)
            context.topic = try column(6)
            context.analyticsLabel = try column(7)
            self.contexts[try column(0)] = context
        }
    }

    func device(_ id: Int32) throws(PostgresError) -> Attributes {
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

/// Where a member stands among the bits of `codes` or `own`, as the catalogue says.
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
