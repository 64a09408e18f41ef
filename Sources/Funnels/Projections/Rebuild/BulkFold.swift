internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Folds all events of some shards at once, for a new generation that has none of them yet.
///
/// Steps go through the log batch by batch, and look each delivery up again for each batch that has events of it. Here
/// PostgreSQL sorts the events of the shards by delivery, so each delivery is folded once and written once, and each
/// cell hardly more often. All of it is one transaction and one snapshot: the shards move from the beginning of the log
/// to the newest batch of the snapshot. An interrupted rebuild repeats only the shards that were not complete.
struct BulkFold {
    let choice: Lane.Choice
    let projectors: [any Projector.Type]
    let mostShards: Int32
    var limits = Limits()

    /// Limits of what is sorted and held at once.
    struct Limits {
        /// The events that one sort should have, unless a single shard has more: a sort of more does not pay for
        /// reading the log less often.
        var events: Int64 = 4_000_000
        /// Rows that PostgreSQL sends at once.
        var rows: Int32 = 8_192
        /// Observations of finished deliveries that are held until they are written together.
        var observations = 32_768
    }

    /// Takes some shards that have nothing yet; false if there are none, or if others are moving all of them.
    func take(on connection: inout Connection) throws(StepError) -> Bool {
        do { try connection.execute(script: Self.begin) } catch { throw .database(error) }
        do {
            let isTaken = try fold(on: &connection)
            if isTaken { try connection.execute(script: "COMMIT") } else { connection.rollBack() }
            return isTaken
        } catch {
            connection.rollBack()
            throw StepError(error)
        }
    }

    /// The lock comes before the snapshot, so that no month is created or dropped in between.
    private static let begin = """
        BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE log.event IN ACCESS SHARE MODE;
        SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'; SET LOCAL cursor_tuple_fraction = 1
        """

    /// For reading and sorting everything; the settings of the session are for looking up a few rows.
    private static let sort = """
        SET LOCAL enable_indexscan = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_seqscan = on;
        SET LOCAL enable_hashjoin = on
        """

    /// After the sort, rows are looked up again.
    private static let lookUp = """
        SET LOCAL enable_indexscan = on; SET LOCAL enable_nestloop = on; SET LOCAL enable_seqscan = off;
        SET LOCAL enable_hashjoin = off
        """

    private func fold(on connection: inout Connection) throws -> Bool {
        let head = try LogTotals(on: &connection)
        let affordable = Int32(clamping: limits.events / max(1, head.events / max(1, head.shards)))
        guard
            let lane = try Lane.claim(
                choice, of: projectors, behind: head.position, atMost: max(1, min(mostShards, affordable)),
                on: &connection),
            lane.position == 0, lane.isRunning, lane.members.count == lane.running.count + 1
        else { return false }
        CrashPoint.pass("claimed")
        let expected = try EventSum(expectedIn: lane.shards, on: &connection)
        try connection.execute(script: Self.sort)
        try connection.execute(script: Self.events(in: lane.shards))
        try connection.execute(script: Self.lookUp)
        var news = try BulkNews(of: lane, limits, on: &connection)
        var found = EventSum()
        var words = EventWords()
        while true {
            let rows = try connection.query(Statement("FETCH \(limits.rows) FROM bulk" as String))
            guard rows.count > 0 else { break }
            try words.learn(rows, EventReader.words, on: &connection)
            for row in 0..<rows.count {
                found.add(batch: try need(rows.int64(row, 0)))
                try news.add(row, of: rows, words)
                if news.isFull { try news.write(on: &connection) }
            }
        }
        guard found == expected else {
            throw StepError.wrongTotal(found: found.events, expected: expected.events)
        }
        try news.finish(on: &connection)
        try foldInstalls(of: lane, &words, on: &connection)
        try foldGoals(of: news.goalApps, lane, upTo: head.position, on: &connection)
        CrashPoint.pass("counted")
        try lane.move(to: head.position, on: &connection)
        CrashPoint.pass("moved")
        return true
    }
}

extension BulkFold {
    /// Does the same for the days of installs, which need another order.
    private func foldInstalls(of lane: Lane, _ words: inout EventWords, on connection: inout Connection) throws {
        try connection.execute(script: Self.sort)
        try SealedInstallDays.keep(in: lane.shards, on: &connection)
        try connection.execute(script: try BulkInstalls.events(in: lane.shards, on: &connection))
        try connection.execute(script: Self.lookUp)
        var installs = BulkInstalls(of: lane)
        while true {
            let rows = try connection.query(Statement("FETCH \(limits.rows) FROM bulk_installs" as String))
            guard rows.count > 0 else { break }
            try words.learn(rows, EventReader.words, on: &connection)
            for row in 0..<rows.count {
                try installs.add(row, of: rows, words)
                if installs.isFull { try installs.write(on: &connection) }
            }
        }
        try installs.finish(on: &connection)
    }

    /// Does the same for the goals of these apps, and of those that the lane already keeps what goals need of.
    private func foldGoals(
        of apps: [Int16: Set<Int32>], _ lane: Lane, upTo position: Int64, on connection: inout Connection
    ) throws {
        let all = apps.merging(lane.goals.apps) { $0.union($1) }
        _ = try GoalBacklog.begin(
            all, in: lane.keepingGoals(of: [:]), upTo: position, counting: lane.running, on: &connection)
    }

    /// A cursor over all events of these shards, delivery by delivery. Deliveries come in the order of their
    /// notification keys: message ids of FCM begin with a time, and so do the rows of the index that the deliveries are
    /// written to.
    private static func events(in shards: [Int16]) -> String {
        """
        DECLARE bulk NO SCROLL CURSOR FOR
        SELECT \(EventReader.columns) FROM (
            SELECT \(EventReader.opened) FROM log.event AS e
            WHERE e.codes >> 4 & 63 IN (\(shards.map { "\($0)" }.joined(separator: ", ")))
        ) AS e JOIN log.app AS a ON a.id = e.app
        ORDER BY e.notification_key, e.install_id, e.app
        """
    }
}

/// Where the log ends in a snapshot, and how much it holds.
private struct LogTotals {
    let position: Int64
    let events: Int64
    let shards: Int64

    init(on connection: inout Connection) throws(PostgresError) {
        let row = try connection.query(
            """
            SELECT coalesce(max(number), 0), coalesce(sum(events), 0)::bigint, (SELECT shards::bigint FROM log.head)
            FROM log.batch
            """)[0]
        (position, events, shards) = (try row.get(0), try row.get(1), try row.get(2))
    }
}

/// How many events there are, and the sum of their batches' ids: two sets of events with the same sums hardly differ.
/// The exact count of each batch is part of the proof that follows.
private struct EventSum: Equatable {
    private(set) var events: Int64 = 0
    private var batches: UInt64 = 0

    init() {}

    mutating func add(batch id: Int64) {
        events += 1
        batches = (batches &+ UInt64(bitPattern: id)) & UInt64(Int64.max)
    }

    /// What the batches say: what was committed, less what was removed since.
    init(expectedIn shards: [Int16], on connection: inout Connection) throws(PostgresError) {
        let row = try connection.query(
            """
            SELECT coalesce(sum(events), 0)::bigint, coalesce(sum(events * id) % 9223372036854775808, 0)::bigint FROM (
                SELECT b.id, (SELECT sum(b.shard_events[shard + 1]) FROM unnest(\(shards)) AS shard) AS events
                FROM log.batch AS b
                UNION ALL
                SELECT l.batch_id, -l.events FROM log.batch_loss_now AS l WHERE l.shard = ANY (\(shards))
            ) AS part
            """)[0]
        events = try row.get(0)
        batches = UInt64(bitPattern: try row.get(1, as: Int64.self)) & UInt64(Int64.max)
    }
}

/// The deliveries that a bulk pass reads, one after another, and has not written yet.
private struct BulkNews {
    private let lane: Lane
    private let limits: BulkFold.Limits
    private let hasSealed: Bool
    private var cells: CellChanges
    /// The apps that have reached a goal, by shard. Until all deliveries are stored, nothing is counted for goals.
    private(set) var goalApps: [Int16: Set<Int32>] = [:]

    private var finished: [Delivery] = []
    private var heldObservations = 0

    /// The delivery whose events are being read.
    private var name: Delivery.Name?
    private var observations: [Observation] = []
    private var state: DeliveryState?
    private var earliest: (at: Timestamp, day: CivilDate)?

    init(of lane: Lane, _ limits: BulkFold.Limits, on connection: inout Connection) throws(PostgresError) {
        (self.lane, self.limits) = (lane.keepingGoals(of: [:]), limits)
        // A delivery that is sealed later gives up this generation.
        hasSealed = try SealedDeliveries.exist(on: &connection)
        cells = CellChanges(of: lane.running)
    }

    /// Takes an event.
    mutating func add(_ row: Int, of rows: Rows, _ words: EventWords) throws(PostgresError) {
        guard let name = try EventReader.delivery(row, of: rows) else {
            guard try GoalNews.type(row, of: rows) == .goalReached else { return }
            goalApps[try need(rows.int16(row, 2)), default: []].insert(try need(rows.int32(row, 1)))
            return
        }
        if name != self.name {
            finishDelivery()
            self.name = name
        }
        let observation = try Observation(row, of: rows, words)
        let at = observation.moment.occurredAt
        if earliest.map({ at < $0.at }) ?? true { earliest = (at, try EventReader.day(row, of: rows)) }
        observations.append(observation)
        // However many events a delivery has, what is kept of them is bounded.
        if observations.count >= Self.mostObservations { foldObservations() }
    }

    private static let mostObservations = 4_096

    private mutating func foldObservations() {
        guard !observations.isEmpty else { return }
        let news = DeliveryState(of: observations)
        observations.removeAll(keepingCapacity: true)
        guard state != nil else { return state = news }
        state?.merge(news)
    }

    private mutating func finishDelivery() {
        foldObservations()
        if let name, let state, let earliest {
            finished.append(Delivery(name, day: earliest.day, state: state))
            heldObservations += state.observations.count
        }
        (name, state, earliest) = (nil, nil, nil)
    }

    /// Whether what is finished should be written.
    var isFull: Bool { heldObservations >= limits.observations }

    mutating func write(on connection: inout Connection) throws {
        var deliveries = finished
        finished.removeAll(keepingCapacity: true)
        heldObservations = 0
        if hasSealed {
            let spans = Dictionary(deliveries.map { ($0.name, $0.state.span) }, uniquingKeysWith: { first, _ in first })
            let sealed = try SealedDeliveries.among(
                deliveries.map(\.name), times: { spans[$0].map { ($0.firstDeviceAt, $0.lastDeviceAt) } },
                on: &connection)
            deliveries.removeAll { sealed.contains($0.name) }
        }
        try lane.deliveries.insert(deliveries, on: &connection)
        try cells.count(Changes(inserted: deliveries), on: &connection)
    }

    /// Writes what is left, when there are no more events.
    mutating func finish(on connection: inout Connection) throws {
        finishDelivery()
        try write(on: &connection)
        CrashPoint.pass("folded")
        try cells.write(on: &connection)
    }
}
