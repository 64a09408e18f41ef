package import Postgres

/// The status of a projection, as analysts see it.
package struct ProjectionStatus: Sendable {
    package let name: String
    package let version: Int32
    package let position: Int64
    /// Batches behind the head of the log.
    package let lag: Int64
    /// Age of the oldest batch that it does not include.
    package let lagSeconds: Double
    /// Where and why it stopped; nil while it runs.
    package let stop: StoppedProjection?
    /// `running`, `stalled` or `stopped`.
    package let status: String

    /// A projection that is behind the log and has not moved for this long is `stalled`.
    package static let mostSecondsStill: Double = 60

    package static func all(on connection: inout Connection) throws(PostgresError) -> [ProjectionStatus] {
        let rows = try connection.query(
            """
            SELECT name, version, position, lag, lag_seconds::float8, stopped_batch, stopped_because, status
            FROM analytics.projections ORDER BY name <> \(DeliveryTable.projector), name
            """)
        var projections: [ProjectionStatus] = []
        for row in rows {
            let name: String = try row.get("name")
            var stop: StoppedProjection?
            if let batch: Int64 = try row.optional("stopped_batch") {
                stop = StoppedProjection(name: name, batch: batch, reason: try row.optional("stopped_because") ?? "")
            }
            projections.append(
                ProjectionStatus(
                    name: name, version: try row.get("version"), position: try row.get("position"),
                    lag: try row.get("lag"), lagSeconds: try row.get("lag_seconds"), stop: stop,
                    status: try row.get("status")))
        }
        return projections
    }
}

/// How far a generation is behind the log.
package struct Backlog: Sendable {
    /// The newest batch.
    package let head: Int64
    /// The position of the shard furthest behind; nil if there is no such generation.
    package let position: Int64?
    /// The positions of all shards, averaged: how far it has come.
    let meanPosition: Int64
    /// Events after the position, of `mostBatches` at most.
    package let events: Int64

    /// Age of the oldest batch after it.
    package let seconds: Double
    /// How many shards the generation has.
    let shards: Int32

    package var isLevel: Bool { position.map { $0 >= head } ?? false }

    private static let mostBatches: Int64 = 4_000

    /// How many shards each of so many lanes takes.
    func share(of lanes: Int) -> Int32 { (shards + Int32(lanes) - 1) / Int32(lanes) }

    static func read(_ choice: Lane.Choice, on connection: inout Connection) throws(PostgresError) -> Backlog {
        let row = try connection.queryPrepared(
            """
            SELECT coalesce((SELECT number FROM log.batch ORDER BY number DESC LIMIT 1), 0) AS head, least.position,
                (SELECT coalesce(sum(events), 0)::bigint FROM (
                    SELECT events FROM log.batch WHERE number > least.position ORDER BY number
                    LIMIT \(mostBatches)) AS some_batches) AS events,
                coalesce((
                    SELECT extract(epoch FROM clock_timestamp() - committed_at)::float8 FROM log.batch
                    WHERE number = least.position + 1), 0) AS seconds,
                least.shards, coalesce(least.mean, 0) AS mean
            FROM (
                SELECT min(position) AS position, avg(position)::bigint AS mean, count(*)::integer AS shards FROM projection.progress
                WHERE generation = projection.chosen_generation(\(choice.generation))
            ) AS least
            """)[0]
        return Backlog(
            head: try row.get("head"), position: try row.optional("position"), meanPosition: try row.get("mean"),
            events: try row.get("events"), seconds: try row.get("seconds"), shards: try row.get("shards"))
    }
}
