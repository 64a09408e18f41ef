internal import Envelopes
package import Postgres
internal import Telemetry
internal import Values

/// What retention and erasure have removed for good, which keys were closed, and which shards other cells have, as far
/// as one writer knows: what must not come back, or not come in.
struct RemovedHistory {
    private struct Install: Hashable {
        let app: Int32
        let id: UUID
    }

    /// The number of decisions that this knows.
    private(set) var history: Int32 = 0
    private var erased: [Install: Timestamp] = [:]
    /// The months that accept no more events, in order. Consecutive months are one range.
    private var closed: [Range<Timestamp>] = []
    /// More such months of single shards, which came here from a cell that had removed them.
    private var closedOfShard: [Int16: [Range<Timestamp>]] = [:]
    /// How many shards the log has.
    private var shards: Int16 = 0

    /// Keys that were revoked.
    private(set) var closedKeys: Set<Int32> = []

    /// The shards whose events this database does not take: in a cluster, those of other cells.
    private(set) var elsewhere: Set<Int16> = []
    /// The epoch of the map that says so; 0 outside a cluster.
    private(set) var epoch: Int64 = 0

    /// Knows nothing yet.
    init() {}

    /// The removals that concern some installs, from the answers to `questions`: for a single check.
    init(answers: ArraySlice<Rows>) throws(PostgresError) {
        for rows in answers.prefix(1) { try learnErased(rows) }
        for rows in answers.dropFirst() { try learnClosed(rows) }
    }

    static func questions(of installs: Set<UUID>, app: Int32) -> [Statement] {
        [
            """
            SELECT app, install_id, erased_at FROM log.erasure
            WHERE app = \(app) AND install_id = ANY (\(Array(installs)))
            """, closedMonths,
        ]
    }

    /// Whether nothing was ever erased or retained, so that nothing needs a check.
    var isEmpty: Bool { erased.isEmpty && closed.isEmpty && closedOfShard.isEmpty }

    /// Why an event must stay out; nil if it may come in.
    func rejection(of event: EventRecord, install: UUID, app: Int32) -> Rejection? {
        if !erased.isEmpty, let erasedAt = erased[Install(app: app, id: install)],
            // Nobody knows when a clamped event occurred. If it were accepted, a repeat of an erased one could come
            // back.
            event.occurredAt < erasedAt || event.timeSource == .clamped
        {
            return Rejection(
                .erased, "source.install_id: this install was erased at \(erasedAt), and the event is from before that")
        }
        // Late events are rare, and consecutive months are one range, so there is little to search.
        guard closed.contains(where: { $0.contains(event.deviceAt) }) || isClosed(event.deviceAt, of: install) else {
            return nil
        }
        return Rejection(
            .tooOld, "at: the events of \(event.deviceAt.month) have been removed, and no more are accepted")
    }

    private func isClosed(_ time: Timestamp, of install: UUID) -> Bool {
        guard !closedOfShard.isEmpty else { return false }
        return closedOfShard[Shard.of(install, among: shards)]?.contains { $0.contains(time) } ?? false
    }

    /// Whether nothing else that names this install may be kept.
    func hasErased(_ install: UUID?, app: Int32) -> Bool {
        guard let install else { return false }
        return erased[Install(app: app, id: install)] != nil
    }

    /// Asks the log for what is new. It reads the count first, so a decision made meanwhile is known too early, never
    /// too late.
    mutating func refresh(on connection: inout Connection) throws(PostgresError) {
        let known = history
        let answers = try connection.pipeline([
            """
            SELECT h.history, s.epoch, ARRAY(SELECT m.shard FROM cluster.map AS m WHERE m.cell IS DISTINCT FROM s.cell)
            FROM log.head AS h, cluster.state AS s
            """,
            "SELECT app, install_id, erased_at FROM log.erasure WHERE history > \(known)",
            Self.closedMonths,
            "SELECT id FROM log.api_key WHERE revoked_at IS NOT NULL",
        ])
        try learnErased(answers[1])
        try learnClosed(answers[2])
        closedKeys = []
        for row in answers[3] { closedKeys.insert(try row.get(0)) }
        let head = answers[0][0]
        elsewhere = Set(try head.get(2, as: [Int16].self))
        (history, epoch) = (try head.get(0), try head.get(1))
    }

    /// Those of all shards first.
    private static let closedMonths: Statement = """
        SELECT month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC', shard, h.shards
        FROM (
            SELECT NULL::smallint AS shard, month FROM log.partition WHERE closed_at IS NOT NULL
            UNION ALL
            SELECT shard, month FROM log.closed_before_move
        ) AS closed, log.head AS h
        ORDER BY shard NULLS FIRST, month
        """

    private mutating func learnErased(_ rows: Rows) throws(PostgresError) {
        for row in rows { erased[Install(app: try row.get(0), id: try row.get(1))] = try row.get(2) }
    }

    private mutating func learnClosed(_ rows: Rows) throws(PostgresError) {
        (closed, closedOfShard) = ([], [:])
        for row in rows {
            let (start, end): (Timestamp, Timestamp) = (try row.get(0), try row.get(1))
            if let shard: Int16 = try row.optional(2) {
                shards = try row.get(3)
                closedOfShard[shard, default: []].append(start..<end)
            } else if let last = closed.last, last.upperBound == start {
                closed[closed.count - 1] = last.lowerBound..<end
            } else {
                closed.append(start..<end)
            }
        }
    }
}

extension SQLState {
    /// The log turns back a commit that was prepared before the last decision of retention or erasure, before a key was
    /// closed, or before the map of shards changed.
    static let historyRaised = SQLState("LH001")
    /// The key of a submission is closed.
    package static let keyClosed = SQLState("LH002")
}

extension Timestamp {
    /// Year and month, in UTC.
    fileprivate var month: String { String(description.prefix(7)) }
}
