internal import Postgres
internal import Values

/// The days from one on, in the time zone of each app: what `verify --since` proves, at the price of their events.
///
/// Only the events that occurred since then are copied and counted, and those of a day more, for what an install had
/// received in the 24 hours before it turned notifications off. A delivery that began earlier belongs to an earlier
/// day, whatever came of it since. Whether it did is asked of the older log, by its name (`LogCopy.findEarlier`), and
/// not of the fold, which is what is to be proved. So are goals that name a delivery before its first event.
struct ProvedDays: Sendable {
    /// The first of the days.
    let first: CivilDate
    /// What occurred since then is copied, whichever app it is of.
    let reading: Timestamp
    /// The batches from this one on were committed since then. They must have all of their events.
    let firstBatch: Int64

    init(since first: CivilDate, on connection: inout Connection) throws(PostgresError) {
        self.first = first
        // Two hours more than the day, for midnights that a zone leaves out.
        let row = try connection.query(
            """
            SELECT r.reading, coalesce(min(b.number + 0), h.head + 1) AS first_batch
            FROM (
                SELECT
                    coalesce(min(\(first)::timestamp AT TIME ZONE time_zone), '2000-01-01') - interval '26 hours' AS reading
                FROM log.app
            ) AS r
            CROSS JOIN (SELECT coalesce(max(number), 0) AS head FROM log.batch) AS h
            LEFT JOIN log.batch AS b ON b.committed_at >= r.reading
            GROUP BY h.head, r.reading
            """)[0]
        (reading, firstBatch) = (try row.get("reading"), try row.get("first_batch"))
    }

    /// SQL condition that a row with a column `day` is of these days.
    static func condition(_ days: ProvedDays?, of row: String = "") -> String {
        days.map { "\(row)day >= '\($0.first)'" } ?? "true"
    }
}
