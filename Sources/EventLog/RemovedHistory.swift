internal import Envelopes
package import Postgres
internal import Telemetry
internal import Values

/// What retention and erasure have taken from the log for good, and the keys that were closed, as one writer knows it: what
/// must not come back, or not come in.
struct RemovedHistory {
    private struct Install: Hashable {
        let app: Int32
        let id: UUID
    }

    /// The count of decisions up to which this knows all.
    private(set) var history: Int32 = 0
    private var erased: [Install: Timestamp] = [:]
    /// The months that take no more events, in order, those that follow each other as one.
    private var closed: [Range<Timestamp>] = []

    /// The keys that open nothing any more.
    private(set) var closedKeys: Set<Int32> = []

    /// Knows nothing yet.
    init() {}

    /// What bars events of some installs now, from the answers to `questions`: for whoever asks once.
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

    /// Nothing was ever erased or retained: nobody has to be asked about.
    var isEmpty: Bool { erased.isEmpty && closed.isEmpty }

    /// Why an event must stay out; nil when it may come in.
    func rejection(of event: EventRecord, install: UUID, app: Int32) -> Rejection? {
        if !erased.isEmpty, let erasedAt = erased[Install(app: app, id: install)],
            // When a clamped event occurred nobody knows. Taken, a repeat of an erased one would be back.
            event.occurredAt < erasedAt || event.timeSource == .clamped
        {
            return Rejection(
                .erased, "source.install_id: this install was erased at \(erasedAt), and the event is from before that")
        }
        // Late events are rare, and months that follow each other are one range: there is little to look through.
        guard closed.contains(where: { $0.contains(event.deviceAt) }) else { return nil }
        return Rejection(
            .tooOld, "at: the events of \(event.deviceAt.month) have been removed, and no more are accepted")
    }

    /// Whether nothing that names this install may be kept beside the events.
    func hasErased(_ install: UUID?, app: Int32) -> Bool {
        guard let install else { return false }
        return erased[Install(app: app, id: install)] != nil
    }

    /// Asks the log for what is new. The count is read first: what comes in between is known too early, never too late.
    mutating func refresh(on connection: inout Connection) throws(PostgresError) {
        let known = history
        let answers = try connection.pipeline([
            "SELECT history FROM log.head",
            "SELECT app, install_id, erased_at FROM log.erasure WHERE history > \(known)",
            Self.closedMonths,
            "SELECT id FROM log.api_key WHERE revoked_at IS NOT NULL",
        ])
        try learnErased(answers[1])
        try learnClosed(answers[2])
        closedKeys = []
        for row in answers[3] { closedKeys.insert(try row.get(0)) }
        history = try answers[0][0].get(0)
    }

    private static let closedMonths: Statement = """
        SELECT month::timestamp AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC'
        FROM log.partition WHERE closed_at IS NOT NULL ORDER BY month
        """

    private mutating func learnErased(_ rows: Rows) throws(PostgresError) {
        for row in rows { erased[Install(app: try row.get(0), id: try row.get(1))] = try row.get(2) }
    }

    private mutating func learnClosed(_ rows: Rows) throws(PostgresError) {
        closed = []
        for row in rows {
            let (start, end): (Timestamp, Timestamp) = (try row.get(0), try row.get(1))
            if let last = closed.last, last.upperBound == start {
                closed[closed.count - 1] = last.lowerBound..<end
            } else {
                closed.append(start..<end)
            }
        }
    }
}

extension SQLState {
    /// The log turns back a commit that was prepared before the last decision of retention or erasure, or before a key was
    /// closed.
    static let historyRaised = SQLState("LH001")
    /// What was to be stored came with a key that is closed.
    package static let keyClosed = SQLState("LH002")
}

extension Timestamp {
    /// Year and month, in UTC.
    fileprivate var month: String { String(description.prefix(7)) }
}
