package import Postgres

/// How a projection stands, as analysts see it.
package struct ProjectionStatus: Sendable {
    package let name: String
    package let version: Int32
    package let position: Int64
    /// Batches behind the head of the log.
    package let lag: Int64
    /// Age of the oldest batch that it does not hold.
    package let lagSeconds: Double
    /// Where and why it stopped; nil while it runs.
    package let stop: StoppedProjection?
    /// `running`, `stalled` or `stopped`.
    package let status: String

    /// Behind the log for so long and unmoved, it is called stalled.
    package static let mostSecondsStill: Double = 60

    package static func all(on connection: inout Connection) throws(PostgresError) -> [ProjectionStatus] {
        let rows = try connection.query(
            """
            SELECT name, version, position, lag, lag_seconds::float8, stopped_batch, stopped_because, status
            FROM analytics.projections ORDER BY name <> \(DeliveryTable.projector), name
            """)
        var projections: [ProjectionStatus] = []
        for row in rows {
            let name: String = try row.get(0)
            var stop: StoppedProjection?
            if let batch: Int64 = try row.optional(5) {
                stop = StoppedProjection(name: name, batch: batch, reason: try row.optional(6) ?? "")
            }
            projections.append(
                ProjectionStatus(
                    name: name, version: try row.get(1), position: try row.get(2), lag: try row.get(3),
                    lagSeconds: try row.get(4), stop: stop, status: try row.get(7)))
        }
        return projections
    }
}
