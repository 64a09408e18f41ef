internal import Postgres
internal import Telemetry
internal import Values

/// Reads a range of batches from the log and groups its events by delivery, and by install and day.
enum EventReader {
    /// What a step learned about one delivery.
    struct News {
        var observations: [Observation]
        /// The day of its earliest observation in the app's time zone.
        var day: CivilDate
        var earliest: Timestamp

        /// When the first and the last of them were, by the device's clock.
        var deviceTimes: (first: Timestamp, last: Timestamp)? {
            let times = observations.lazy.map(\.moment.deviceAt)
            guard let first = times.min(), let last = times.max() else { return nil }
            return (first, last)
        }
    }

    /// What a step learned.
    struct Found {
        var deliveries: [Delivery.Name: News] = [:]
        var installs: [InstallDay.Name: [Sighting]] = [:]
        /// Nil if nothing of it concerns goals.
        var goals: GoalNews?
        /// Whether there are goals.
        fileprivate var hasGoals = false
    }

    /// The events of the lane's shards. In each shard the log must have as many events as its batches say:
    /// otherwise the numbers could not be explained. So it also checks batches without events in these shards.
    static func read(
        _ range: BatchRange, of lane: Lane, on connection: inout Connection
    ) throws(StepError) -> Found {
        let batches = range.batches.filter { $0.times != nil }
        guard !batches.isEmpty else { return Found() }
        do {
            let rows = try connection.queryPrepared(events(of: batches, in: lane.shards))
            let words = try EventWords(of: rows, Self.words, on: &connection)
            var found = Found()
            found.deliveries.reserveCapacity(rows.count)
            var counts = FoundEvents(of: range.batches)
            for row in 0..<rows.count {
                counts.count(batch: try need(rows.int64(row, 0)), shard: try need(rows.int16(row, 2)))
                try add(row, of: rows, words, to: &found)
            }
            try counts.check(lane.shards)
            if found.hasGoals || !lane.goals.apps.isEmpty {
                found.goals = try GoalNews(in: rows, words, of: lane.goals)
            }
            return found
        } catch { throw StepError(error) }
    }

    /// Reads batch by batch, using the index of batches in the months that the batch has events in. PostgreSQL keeps
    /// the plan for long, and may make it on an empty log, so statistics must not decide. The times say which months to
    /// read. Written like this they never look more selective than the batch, which is given as a range, too.
    static func events(of batches: [BatchRange.Batch], in shards: [Int16]) -> Statement {
        """
        SELECT \(sql: columns)
        FROM unnest(\(batches.map(\.id)), \(batches.compactMap { $0.times?.least }),
            \(batches.compactMap { $0.times?.greatest })) AS b (id, least, greatest)
        CROSS JOIN LATERAL (
            SELECT \(sql: opened)
            FROM log.event AS e
            WHERE e.batch_id = b.id AND e.batch_id >= b.id AND e.batch_id <= b.id
                AND e.device_at >= ANY (ARRAY[b.least]) AND e.device_at <= ANY (ARRAY[b.greatest])
                AND e.codes >> 4 & 63 = ANY (\(shards.map(Int32.init)))
            OFFSET 0
        ) AS e
        JOIN log.app AS a ON a.id = e.app
        """
    }

    /// What the fold reads of an event: columns of a row `e`, which `opened` made, and of its app `a`.
    static let columns: StaticString = """
        e.batch_id, e.app, e.shard, e.install_id, e.notification_key, e.event_id, e.device_at, e.occurred_at, e.codes,
        e.device, e.context, e.seq, e.own, e.amount_1, e.word_1, e.items, (e.occurred_at AT TIME ZONE a.time_zone)::date,
        e.loose_device, e.loose_context, e.amount_2, e.notification_sent_at
        """

    /// The words that these columns name.
    static let words = EventWords.Columns(device: 9, context: 10, own: 14, looseDevice: 17, looseContext: 18)

    /// SQL for what the fold reads of a row `e` of `log.event`.
    static let opened: StaticString = """
        e.batch_id, e.app, (e.codes >> 4 & 63)::smallint AS shard, e.install_id, e.notification_key, e.event_id, e.device_at,
        coalesce(e.occurred_at, e.device_at) AS occurred_at, e.codes, e.device, e.context,
        coalesce(e.seq::bigint, (e.rare ->> 'seq')::bigint, 0) AS seq, coalesce(e.own, 0) AS own,
        coalesce(e.amount_1::bigint, (e.rare ->> 'declared_ms')::bigint, (e.rare ->> 'media_bytes')::bigint) AS amount_1,
        e.amount_2, e.word_1, e.notification_sent_at,
        (e.rare ->> 'summary_argument_count')::bigint AS items, e.rare ->> 'device' AS loose_device,
        e.rare ->> 'context' AS loose_context
        """

    private static func add(
        _ row: Int, of rows: Rows, _ words: EventWords, to found: inout Found
    ) throws(PostgresError) {
        let place = try install(row, of: rows)
        let (observation, sighting) = try Observation.read(row, of: rows, words)
        found.installs[place, default: []].append(sighting)
        if observation.type == .goalReached { found.hasGoals = true }
        guard let name = try delivery(row, of: rows) else { return }
        let moment = observation.moment.occurredAt
        guard var known = found.deliveries.removeValue(forKey: name) else {
            found.deliveries[name] = News(observations: [observation], day: place.day, earliest: moment)
            return
        }
        known.observations.append(observation)
        if moment < known.earliest { (known.earliest, known.day) = (moment, place.day) }
        found.deliveries[name] = known
    }
}

extension EventReader {
    /// The delivery that an event belongs to; nil for an event about the install.
    static func delivery(_ row: Int, of rows: Rows) throws(PostgresError) -> Delivery.Name? {
        guard let key = try rows.text(row, 4) else { return nil }
        // A goal may name its notification, but is no event of the fold.
        let type = EventType(rawValue: EventBits.of(.type).value(in: try need(rows.int32(row, 8))))
        guard type?.isOfDelivery ?? true else { return nil }
        return Delivery.Name(
            app: try need(rows.int32(row, 1)), shard: try need(rows.int16(row, 2)),
            install: try need(rows.uuid(row, 3)),
            notificationKey: key)
    }

    /// The install of an event, and its day.
    static func install(_ row: Int, of rows: Rows) throws(PostgresError) -> InstallDay.Name {
        InstallDay.Name(
            app: try need(rows.int32(row, 1)), shard: try need(rows.int16(row, 2)),
            install: try need(rows.uuid(row, 3)), day: try day(row, of: rows))
    }

    /// The day of an event in its app's time zone.
    static func day(_ row: Int, of rows: Rows) throws(PostgresError) -> CivilDate { try need(rows.day(row, 16)) }
}

extension Observation {
    /// Reads a row of `EventReader.columns`: what it says about its delivery.
    init(_ row: Int, of rows: Rows, _ words: EventWords) throws(PostgresError) {
        try self.init(row, of: rows, words, try Self.device(row, of: rows, words).attributes)
    }

    private static func device(
        _ row: Int, of rows: Rows, _ words: EventWords
    ) throws(PostgresError) -> EventWords.Device {
        if let id = try rows.int32(row, 9) { return try words.device(id) }
        if let loose = try rows.text(row, 17) { return try words.device(in: loose) }
        return EventWords.Device()
    }

    /// Reads what the event says about its delivery, and about its install.
    static func read(
        _ row: Int, of rows: Rows, _ words: EventWords
    ) throws(PostgresError) -> (Observation, Sighting) {
        var device = try device(row, of: rows, words)
        let observation = try Observation(row, of: rows, words, device.attributes)
        var sighting = Sighting(at: observation.moment)
        switch observation.type {
        case .permissionChanged:
            let own = try need(rows.int32(row, 12))
            // What the event says itself overrides its source.
            let new = EventBits.of(.newAuthorization).value(in: own)
            if new != 0 { device.allow(new) }
            sighting.change = Sighting.Change(
                to: device.attributes.authorization, from: EventBits.of(.previous).value(in: own))
        case .notificationReceived where observation.breaksSilence:
            sighting.receipt = Sighting.Receipt(
                category: observation.attributes.category, campaign: observation.attributes.campaign)
        default: break
        }
        sighting.device = DeviceWords(device.attributes, timeZone: device.timeZone)
        return (observation, sighting)
    }

    private init(
        _ row: Int, of rows: Rows, _ words: EventWords, _ device: Attributes
    ) throws(PostgresError) {
        let codes = try need(rows.int32(row, 8))
        func bits(_ member: Member, _ field: Int32) -> Int16 { EventBits.of(member).value(in: field) }
        let code = bits(.type, codes)
        guard let type = EventType(rawValue: code) else {
            throw .decoding("an event has type \(code), which this program does not know")
        }
        self.init(
            at: Moment(
                occurredAt: try need(rows.timestamp(row, 7)), seq: try need(rows.int64(row, 11)),
                id: try need(rows.uuid(row, 5)), deviceAt: try need(rows.timestamp(row, 6))), type)
        let own = try need(rows.int32(row, 12))
        if let context = try rows.int32(row, 10) {
            attributes = try words.context(context)
        } else if let loose = try rows.text(row, 18) {
            attributes = try words.context(in: loose)
        }
        attributes.complete(from: device)
        attributes.origin = bits(.origin, codes)
        alert = bits(.alert, codes) == 2
        sentAt = try rows.timestamp(row, 20)
        switch type {
        case .notificationReceived:
            via = bits(.via, own)
            presentation = Presentation(bits: bits(.presentation, own))
            fetchResult = bits(.fetchResult, own)
            media.kind = bits(.mediaKind, own)
            media.network = bits(.mediaNetwork, own)
            media.outcome = bits(.mediaOutcome, own)
            if media.outcome != 0 {
                media.reason = bits(.mediaReason, own)
                media.format = words.counted(try rows.int32(row, 14) ?? 0)
                media.bytes = Int32(clamping: try rows.int64(row, 13) ?? 0)
                media.milliseconds = try rows.int32(row, 19)
            }
            // Clamped, so that a sum of absurd counts cannot overflow.
            items = try rows.int64(row, 15).map { Int32(clamping: $0) }
        case .notificationOpened: attributes.launch = bits(.launch, own)
        case .actionTapped:
            attributes.launch = bits(.launch, own)
            action = words.counted(try rows.int32(row, 14) ?? 0)
            isForegroundTap = bits(.activation, own) == Activation.foreground.rawValue
        case .storyPageShown:
            page = bits(.pageIndex, own) - 1
            cause = bits(.cause, own)
            declared = try rows.int64(row, 13).map { Int32(min($0, Self.longestDeclared)) }
        case .storyActionTapped: page = bits(.pageIndex, own) - 1
        case .storyStarted: page = bits(.pageCount, own)
        default: break
        }
        guard isPlausible else { throw .decoding("event \(moment.id) has numbers that no event can have") }
    }

    /// Whether ingestion would let it through. Somebody may have written into the log by hand.
    private var isPlausible: Bool {
        // The result is negative if any of them is.
        let ids =
            attributes.category | attributes.campaign | attributes.variant | attributes.thread | attributes.platform
            | attributes.appVersion | attributes.osVersion | attributes.deviceModel | attributes.locale
            | attributes.interruptionLevel | attributes.topic | attributes.analyticsLabel | action | (items ?? 0)
            | (declared ?? 0) | media.format | media.bytes | (media.milliseconds ?? 0)
        let codes =
            attributes.origin | attributes.authorization | attributes.reach | attributes.launch | via | fetchResult
            | media.kind
            | media.network | media.outcome | media.reason | cause
        return moment.seq >= 0 && ids >= 0 && codes >= 0
            && (type == .storyStarted ? 1...1_000 : 0...999).contains(page ?? 1)
    }
}

extension Observation.Presentation {
    /// Takes the log's bits: the lowest says whether there is a list at all, then one for each option.
    fileprivate init(bits: Int16) {
        let visible: [PresentationOption] = [.banner, .list, .alert]
        let mask = visible.reduce(Int16(0)) { $0 | 1 << $1.rawValue }
        self = bits & 1 == 0 ? .unsaid : bits & mask == 0 ? .toNobody : .toSomebody
    }
}

/// A column that is never NULL.
func need<Value>(_ value: Value?) throws(PostgresError) -> Value {
    guard let value else { throw .decoding("a column is null that never should be") }
    return value
}
