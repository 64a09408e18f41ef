package import Postgres
package import Values

/// What a verification found, as it is noted in the database: which days it covers, and up to where.
package struct Proof: Sendable {
    /// It covers the days from then on; nil: all days.
    package let since: CivilDate?
    package let verifiedAt: Timestamp
    /// Whether every cell of those days was compared and none differed.
    package let isProved: Bool
    package let differingCells: Int64
    /// Every shard was counted up to this batch.
    package let position: Int64
    /// Whether the tables were built anew or moved to another zone since.
    package let isOfOlderTables: Bool

    /// What came of it, in a few words.
    package var result: String {
        let found =
            isProved
            ? "proved" : differingCells > 0 ? "differing cells: \(differingCells)" : "not everything could be compared"
        return found + (isOfOlderTables ? ", before they were built anew or moved to another zone" : "")
    }

    /// Those that tell the last verification of each day, the newest first. There are few: one that covers the same
    /// days or more replaces older ones.
    package static func all(on connection: inout Connection) throws(PostgresError) -> [Proof] {
        var proofs: [Proof] = []
        for row in try connection.query(
            """
            SELECT p.since, p.verified_at, p.is_proved, p.differing_cells,
                (SELECT min(position) FROM unnest(p.positions) AS position) AS position,
                NOT p.made_of <@ present.made_of AS is_of_older_tables
            FROM projection.proof AS p CROSS JOIN projection.made_of AS present ORDER BY p.id DESC
            """)
        {
            proofs.append(
                Proof(
                    since: try row.optional("since"), verifiedAt: try row.get("verified_at"),
                    isProved: try row.get("is_proved"), differingCells: try row.get("differing_cells"),
                    position: try row.get("position"), isOfOlderTables: try row.get("is_of_older_tables")))
        }
        return proofs
    }
}

extension Proof {
    /// The moment when a verification of the live funnels begins. What is built anew meanwhile is not proved by it.
    package struct Beginning: Sendable {
        private let at: Timestamp
        private let madeOf: String

        package init(on connection: inout Connection) throws(PostgresError) {
            let row = try connection.query("SELECT clock_timestamp() AS at, made_of::text FROM projection.made_of")[0]
            (at, madeOf) = (try row.get("at"), try row.get("made_of"))
        }

        /// Notes what was found, if it was about all shards. What has a newer verification now needs no older one: a
        /// proof replaces all of the same days or fewer, and a failure replaces failures.
        package func note(_ report: VerificationReport, on connection: inout Connection) throws(PostgresError) {
            let positions = report.shards.sorted { $0.shard < $1.shard }.map(\.position)
            try connection.transaction { connection throws(PostgresError) in
                let noted = try connection.query(
                    """
                    INSERT INTO projection.proof (since, began_at, is_proved, differing_cells, positions, made_of)
                    SELECT \(report.since), \(at), \(report.isProved), \(report.differingCells), \(positions),
                        \(madeOf)::jsonb
                    FROM projection.made_of AS present JOIN log.head ON shards = \(Int32(clamping: positions.count))
                    WHERE \(madeOf)::jsonb <@ present.made_of
                    RETURNING id
                    """)
                guard let id: Int64 = try noted.valueIfAny() else { return }
                try connection.query(
                    """
                    DELETE FROM projection.proof AS old
                    WHERE old.id < \(id) AND (\(report.isProved) OR NOT old.is_proved)
                        AND (\(report.since)::date IS NULL OR old.since >= \(report.since))
                    """)
            }
        }
    }
}
