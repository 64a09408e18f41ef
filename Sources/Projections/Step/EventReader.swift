internal import Postgres
internal import Telemetry

/// Reads a range of batches from the log and puts its events to their deliveries.
enum EventReader {
    /// What a step learned of one delivery.
    struct News {
        var observations: [Observation]
        /// The day of the earliest of them in the app's time zone.
        var day: CivilDate
        var earliest: Timestamp
    }

    /// The events of the lane's shards by delivery. The log must hold as many as its batches say, in each shard: fewer or
    /// more would make numbers that nobody can explain. So batches without an event in these shards are looked for, too.
    static func read(
        _ range: BatchRange, of lane: Lane, on connection: inout Connection
    ) throws(StepError) -> [Delivery.Name: News] {
        let batches = range.batches.map(\.id)
        guard let times = range.times, let least = batches.min(), let greatest = batches.max() else { return [:] }
        do {
            // The times say which months to look into, and no more. As a plain range they look choosier than the batches to
            // a planner without statistics (a new month has none), which then reads all events of that range. The range of
            // the batches, which says nothing new, makes them the choosiest, of a log without any event, too: a plan is kept
            // for long.
            let rows = try connection.queryPrepared(
                """
                SELECT e.batch_id, e.app, e.shard, e.install_id, e.notification_key, e.event_id, e.device_at, e.occurred_at,
                    e.seq, e.type, (e.occurred_at AT TIME ZONE a.time_zone)::date, e.category, e.campaign, e.variant, e.thread,
                    e.platform, e.app_version, e.origin, e.alert, e.via, e.presentation, e.fetch_result, e.media_kind,
                    e.media_network, e.media_outcome, e.summary_argument_count, e.action_id, e.activation, e.page_index,
                    e.page_count, e.cause, e.declared_ms, e.os_version, e.device_model, e.locale, e.interruption_level, e.topic,
                    e.analytics_label, e."authorization", e.launch
                FROM log.event AS e JOIN log.app AS a ON a.id = e.app
                WHERE e.batch_id = ANY (\(batches)) AND e.batch_id >= \(least) AND e.batch_id <= \(greatest)
                    AND e.shard = ANY (\(lane.shards))
                    AND e.device_at >= ANY (ARRAY[\(times.least)]) AND e.device_at <= ANY (ARRAY[\(times.greatest)])
                """)
            var news: [Delivery.Name: News] = [:]
            news.reserveCapacity(rows.count)
            var found = FoundEvents(of: range.batches)
            for row in 0..<rows.count {
                found.count(batch: try need(rows.int64(row, 0)), shard: try need(rows.int16(row, 2)))
                try add(row, of: rows, to: &news)
            }
            try found.check(lane.shards)
            return news
        } catch { throw StepError(error) }
    }

    private static func add(
        _ row: Int, of rows: Rows, to news: inout [Delivery.Name: News]
    ) throws(PostgresError) {
        let name = Delivery.Name(
            app: try need(rows.int32(row, 1)), shard: try need(rows.int16(row, 2)),
            install: try need(rows.uuid(row, 3)),
            notificationKey: try need(rows.text(row, 4)))
        let observation = try Observation(row, of: rows)
        let day = try need(rows.day(row, 10))
        let moment = observation.moment.occurredAt
        guard var known = news.removeValue(forKey: name) else {
            news[name] = News(observations: [observation], day: day, earliest: moment)
            return
        }
        known.observations.append(observation)
        if moment < known.earliest { (known.earliest, known.day) = (moment, day) }
        news[name] = known
    }
}

extension Observation {
    /// From a row of the query above.
    fileprivate init(_ row: Int, of rows: Rows) throws(PostgresError) {
        let code = try need(rows.int16(row, 9))
        guard let type = EventType(rawValue: code) else {
            throw .decoding("an event of type \(code), which this program does not know")
        }
        self.init(
            at: Moment(
                occurredAt: try need(rows.timestamp(row, 7)), seq: try rows.int64(row, 8) ?? 0,
                id: try need(rows.uuid(row, 5)), deviceAt: try need(rows.timestamp(row, 6))), type)
        attributes.category = try rows.int32(row, 11) ?? 0
        attributes.campaign = try rows.int32(row, 12) ?? 0
        attributes.variant = try rows.int32(row, 13) ?? 0
        attributes.thread = try rows.int32(row, 14) ?? 0
        attributes.platform = try rows.int32(row, 15) ?? 0
        attributes.appVersion = try rows.int32(row, 16) ?? 0
        attributes.origin = try rows.int16(row, 17) ?? 0
        attributes.osVersion = try rows.int32(row, 32) ?? 0
        attributes.deviceModel = try rows.int32(row, 33) ?? 0
        attributes.locale = try rows.int32(row, 34) ?? 0
        attributes.interruptionLevel = try rows.int32(row, 35) ?? 0
        attributes.topic = try rows.int32(row, 36) ?? 0
        attributes.analyticsLabel = try rows.int32(row, 37) ?? 0
        attributes.authorization = try rows.int16(row, 38) ?? 0
        attributes.launch = try rows.int16(row, 39) ?? 0
        alert = try rows.bool(row, 18) ?? false
        switch type {
        case .notificationReceived:
            via = try rows.int16(row, 19) ?? 0
            presentation = try Presentation(bits: rows.int16(row, 20))
            fetchResult = try rows.int16(row, 21) ?? 0
            media.kind = try rows.int16(row, 22) ?? 0
            media.network = try rows.int16(row, 23) ?? 0
            media.outcome = try rows.int16(row, 24) ?? 0
            // A sum of what liars count must not overflow.
            items = try rows.int64(row, 25).map { Int32(clamping: $0) }
        case .actionTapped:
            action = try rows.int32(row, 26) ?? 0
            isForegroundTap = try rows.int16(row, 27) == Activation.foreground.rawValue
        case .storyPageShown:
            page = try rows.int16(row, 28)
            cause = try rows.int16(row, 30) ?? 0
            declared = try rows.int64(row, 31).map { Int32(min($0, Self.longestDeclared)) }
        case .storyActionTapped: page = try rows.int16(row, 28)
        case .storyStarted: page = try rows.int16(row, 29)
        case .notificationExpanded, .notificationOpened, .notificationDismissed, .storyFinished, .storyFallbackShown:
            break
        }
        guard isPlausible else { throw .decoding("event \(moment.id) holds numbers that no event can have") }
    }

    /// What ingestion lets through. Somebody may have written into the log by hand.
    private var isPlausible: Bool {
        // A negative one among them makes the whole negative.
        let ids =
            attributes.category | attributes.campaign | attributes.variant | attributes.thread | attributes.platform
            | attributes.appVersion | attributes.osVersion | attributes.deviceModel | attributes.locale
            | attributes.interruptionLevel | attributes.topic | attributes.analyticsLabel | action | (items ?? 0)
            | (declared ?? 0)
        let codes =
            attributes.origin | attributes.authorization | attributes.launch | via | fetchResult | media.kind
            | media.network | media.outcome | cause
        return moment.seq >= 0 && ids >= 0 && codes >= 0
            && (type == .storyStarted ? 1...1_000 : 0...999).contains(page ?? 1)
    }
}

extension Observation.Presentation {
    /// Of the log's bits, the first option lowest; NULL is no list at all.
    fileprivate init(bits: Int16?) {
        let visible: [PresentationOption] = [.banner, .list, .alert]
        let mask = visible.reduce(Int16(0)) { $0 | 1 << ($1.rawValue - 1) }
        self = bits.map { $0 & mask == 0 ? .toNobody : .toSomebody } ?? .unsaid
    }
}

/// A column that is never NULL.
func need<Value>(_ value: Value?) throws(PostgresError) -> Value {
    guard let value else { throw .decoding("a column is null that never is") }
    return value
}
