internal import EventLog
internal import Postgres
internal import Telemetry

/// A copy of the events of some shards, in one or more temporary tables: all events, or those that some days need.
struct LogCopy {
    /// The shards of each table.
    let tables: [[Int16]]
    let days: ProvedDays?
    /// Makes what rows sort and join by.
    let scatter: Scatter
    /// The generation that is compared; nil for the live one.
    let generation: Int32?
    private let positions: [(shard: Int16, position: Int64)]

    init(
        of positions: [(shard: Int16, position: Int64)], perTable: Int, days: ProvedDays?, scatter: Scatter,
        generation: Int32?
    ) {
        (self.positions, self.days, self.scatter, self.generation) = (positions, days, scatter, generation)
        let shards = positions.map(\.shard)
        tables = stride(from: 0, to: shards.count, by: perTable).map {
            Array(shards[$0..<min($0 + perTable, shards.count)])
        }
    }

    /// The columns of `log.event` that a recount reads, as they are packed.
    static let columns = [
        "batch_id", "device_at", "event_id", "install_id", "app", "codes", "device", "context", "seq", "own",
        "amount_1",
        "amount_2", "word_1", "word_2", "occurred_at", "notification_sent_at", "notification_key", "rare",
    ]

    static func table(_ number: Int) -> String { "recount_log_\(number)" }

    /// SQL for rows `e` of the log as the copy has them, up to the position of each shard.
    func rows(where condition: String, joining more: String = "") -> String {
        """
        SELECT (e.codes >> 4 & 63)::smallint AS shard, b.number AS batch, \(Self.columns.map { "e.\($0)" }.joined(separator: ", "))
        FROM log.event AS e
        JOIN log.batch AS b ON b.id = e.batch_id
        JOIN (VALUES \(places)) AS p (shard, position) ON p.shard = e.codes >> 4 & 63 AND b.number <= p.position
        \(more)
        WHERE \(condition)
        """
    }

    private var places: String {
        positions.map { "(\($0.shard)::smallint, \($0.position)::bigint)" }.joined(separator: ", ")
    }

    /// SQL for when an event `e` occurred, and for the day on which it counts among others of its install.
    private static let occurredAt = "coalesce(e.occurred_at, e.device_at)"
    private static let dayOfGoal = "(\(occurredAt) AT TIME ZONE 'UTC')::date"
    private static let isGoal = "e.codes >> 10 & 31 = \(EventType.goalReached.rawValue)"

    /// SQL for the events that are copied at first.
    var copied: String { rows(where: days.map { "\(Self.occurredAt) >= '\($0.reading)'" } ?? "true") }

    /// SQL for the events of a shard that was copied.
    func events(of shard: Int16) -> String {
        let number = tables.firstIndex { $0.contains(shard) } ?? 0
        return "(SELECT * FROM pg_temp.\(Self.table(number)) WHERE shard = \(shard))"
    }

    /// SQL for how many events each batch has in a shard. Of single days the copy has only a part of a batch.
    func counts(of shard: Int16) -> String {
        days == nil
            ? "SELECT batch, count(*) AS events FROM \(events(of: shard)) AS copied GROUP BY batch"
            : "SELECT batch, events FROM recount_batch WHERE shard = \(shard)"
    }

    /// SQL for the row that says that the delivery of an event `e` began before the days.
    static let beganEarlier = """
        SELECT FROM recount_earlier AS x
        WHERE x.scatter = e.scatter AND x.app = e.app AND x.install_id = e.install_id
            AND x.notification_key = e.notification_key AND x.goal_day IS NULL
        """

    /// Makes two more tables, of single days, with two passes over the log that read little of each row:
    ///
    /// - `recount_batch`: how many events each batch has that was committed since the days began.
    /// - `recount_earlier`: of the deliveries in the copy, those that the log has an older event of; and those that an
    ///   older goal names, with its day, since a goal counts on the day of its delivery, however early it is.
    ///
    /// Such goals are added to the copy, with all goals of their install on that day (UTC), since only the last hundred of a
    /// day count. Where there are any, this takes a third pass.
    func findEarlier(on connection: inout Connection) throws(PostgresError) {
        guard let days else { return }
        try connection.execute(script: earlier(than: days))
    }

    private func earlier(than days: ProvedDays) -> String {
        let shards = positions.map { "\($0.shard)" }.joined(separator: ", ")
        return """
            CREATE TEMPORARY TABLE recount_batch ON COMMIT DROP AS
            SELECT (e.codes >> 4 & 63)::smallint AS shard, b.number AS batch, count(*) AS events
            FROM log.event AS e
            JOIN (SELECT id, number FROM log.batch WHERE number >= \(days.firstBatch)) AS b ON b.id = e.batch_id
            WHERE e.codes >> 4 & 63 IN (\(shards))
            GROUP BY 1, 2;

            CREATE TEMPORARY TABLE recount_name ON COMMIT DROP AS
            SELECT DISTINCT \(scatter.delivery("e")) AS scatter
            FROM recount_logs AS e WHERE e.notification_key IS NOT NULL AND NOT \(Self.isGoal);
            ANALYZE recount_name;

            CREATE TEMPORARY TABLE recount_earlier ON COMMIT DROP AS
            SELECT DISTINCT e.scatter, e.app, e.install_id, e.notification_key, e.goal_day
            FROM (
                SELECT
                    (e.codes >> 4 & 63)::smallint AS shard, e.app, e.install_id, e.notification_key, e.batch_id,
                    \(scatter.delivery("e")) AS scatter, CASE WHEN \(Self.isGoal) THEN \(Self.dayOfGoal) END AS goal_day
                FROM log.event AS e
                WHERE e.codes >> 4 & 63 IN (\(shards)) AND \(Self.occurredAt) < '\(days.reading)'
                    AND e.notification_key IS NOT NULL
            ) AS e
            JOIN recount_name AS n ON n.scatter = e.scatter
            JOIN log.batch AS b ON b.id = e.batch_id
            JOIN (VALUES \(places)) AS p (shard, position) ON p.shard = e.shard AND b.number <= p.position;
            ANALYZE recount_earlier;

            INSERT INTO recount_logs \(olderGoals(than: days))
            """
    }

    /// Without any it does not read the log.
    private func olderGoals(than days: ProvedDays) -> String {
        rows(
            where: """
                (SELECT true FROM recount_earlier WHERE goal_day IS NOT NULL LIMIT 1) AND \(Self.isGoal)
                    AND \(Self.occurredAt) < '\(days.reading)'
                """,
            joining: """
                JOIN (SELECT DISTINCT app, install_id, goal_day FROM recount_earlier WHERE goal_day IS NOT NULL) AS x
                    ON \(scatter.isSameInstall("x", "e"))
                    AND CASE WHEN x.app = e.app AND x.install_id = e.install_id AND x.goal_day = \(Self.dayOfGoal)
                        THEN true ELSE false END
                """)
    }
}
