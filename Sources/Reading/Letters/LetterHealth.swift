package import Postgres

/// Whether reports reach their places.
package struct LetterHealth: Sendable {
    /// How many letters wait since a night that is over, or failed, and the oldest of them.
    package let late: Int64
    package let lateExample: String?
    /// How many were given up in the last week, and the latest of them.
    package let givenUp: Int64
    package let givenUpExample: String?

    /// Nil where no report was ever to be delivered.
    package static func read(on connection: inout Connection) throws(PostgresError) -> LetterHealth? {
        let row = try connection.query(
            """
            WITH told AS (
                SELECT state, written_at, ended_at, app || ', ' || period || ' to ' || place
                    || coalesce(': ' || last_error, '') AS words
                FROM report.letter
                WHERE state = 'waiting' AND (attempts > 0 OR last_error IS NOT NULL
                    OR written_at < now() - interval '26 hours')
                    OR state = 'given_up' AND ended_at > now() - interval '7 days'
            )
            SELECT EXISTS (SELECT FROM report.letter),
                count(*) FILTER (WHERE state = 'waiting'),
                (array_agg(words ORDER BY written_at, words) FILTER (WHERE state = 'waiting'))[1],
                count(*) FILTER (WHERE state = 'given_up'),
                (array_agg(words ORDER BY ended_at DESC, words) FILTER (WHERE state = 'given_up'))[1]
            FROM told
            """)[0]
        guard try row.get(0) else { return nil }
        return LetterHealth(
            late: try row.get(1), lateExample: try row.optional(2), givenUp: try row.get(3),
            givenUpExample: try row.optional(4))
    }
}
