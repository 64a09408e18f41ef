package import Postgres
package import Values

/// Retention in a cluster: a month goes in all cells or in none, as if their events were in one log.
extension Retention {
    /// What a cell says of its months.
    package struct Survey: Sendable {
        /// Those that are open and ended long enough ago.
        package let open: [Standing]
        /// Those that are closed and not yet dropped: a run was interrupted.
        package let closed: [CivilDate]

        package init(open: [Standing], closed: [CivilDate]) { (self.open, self.closed) = (open, closed) }

        package func has(_ month: CivilDate) -> Bool { closed.contains(month) || open.contains { $0.month == month } }
    }

    /// The months that are to be closed in all cells, the oldest first, by what the cells say.
    ///
    /// A month goes if it is quiet in every cell that still has it, or if it has waited too long in one of them:
    /// nothing that arrives elsewhere may hold up what is there. If it is closed in one cell already, the others
    /// follow.
    package static func due(_ surveys: [Survey]) -> [CivilDate] {
        var due: Set<CivilDate> = []
        let open = Dictionary(grouping: surveys.flatMap(\.open), by: \.month)
        for (month, standings) in open where standings.allSatisfy(\.isQuiet) || standings.contains(where: \.isOverdue) {
            due.insert(month)
        }
        return due.union(surveys.flatMap(\.closed)).sorted()
    }

    /// Closes a month, in the order of the cells. The first one may find new events that keep it, if nothing else
    /// decides: then nothing is closed anywhere, and this returns false. After that the others follow, whatever has
    /// arrived there since.
    package static func close(
        _ month: CivilDate, surveys: [Survey], _ close: (_ cell: Int, Candidate) throws -> Bool
    ) throws -> Bool {
        var isDecided = surveys.contains { survey in
            survey.closed.contains(month) || survey.open.contains { $0.month == month && $0.isOverdue }
        }
        for (cell, survey) in surveys.enumerated() {
            guard let standing = survey.open.first(where: { $0.month == month }) else { continue }
            let candidate = Candidate(month: month, lookedAt: isDecided ? nil : standing.lookedAt)
            guard try close(cell, candidate) else { return false }
            isDecided = true
        }
        return true
    }

    /// Throws while a shard moves: two cells have a copy of its events, and this would change one of them.
    package static func requireNoMove(on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT cluster.require_no_move()")
    }

    /// Refuses events of a month that is gone in other cells, and that this one never had. Events of it with absurd
    /// times that are there all the same belong to no month: they go by the time of their receipt.
    package static func refuse(_ month: CivilDate, on connection: inout Connection) throws(PostgresError) {
        let isKnown: Bool = try connection.transaction { connection throws(PostgresError) in
            // Lock this before the head, as everybody does who closes a month.
            try connection.execute(script: "LOCK TABLE log.partition IN SHARE ROW EXCLUSIVE MODE")
            try requireNoMove(on: &connection)
            guard try connection.query("SELECT FROM log.partition WHERE month = \(month)").isEmpty else { return true }
            try connection.query("SELECT log.raise_history()")
            try connection.query(
                """
                INSERT INTO log.partition (month, name, closed_at, counted_at, dropped_at)
                SELECT \(month), 'event_' || to_char(\(month)::date, 'YYYY_MM'), moment, moment, moment
                FROM clock_timestamp() AS moment
                """)
            return false
        }
        // Its first event has just come.
        if isKnown { _ = try close(Candidate(month: month, lookedAt: nil), on: &connection) }
    }
}
