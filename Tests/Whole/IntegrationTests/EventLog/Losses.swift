import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

extension TestDatabase {
    /// The first day of a month.
    static func month(_ year: Int, _ month: Int) -> CivilDate { CivilDate(year: year, month: month, day: 1)! }

    /// Noon of a day.
    static func noon(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
        let days = CivilDate(year: year, month: month, day: day)!.daysSince1970
        return Timestamp(microseconds: Int64(days) * 86_400_000_000 + 43_200_000_000)
    }

    /// Makes the partition of a month.
    func make(_ month: CivilDate) throws {
        var connection = try connect()
        #expect(try connection.query("SELECT log.make_partition(\(month))")[0].get(0) == true)
    }

    /// Closes a month whatever it holds.
    @discardableResult
    func close(_ month: CivilDate) throws -> Int64 {
        var connection = try session(nil)
        // Nothing is newer than that; only what comes while it is closed keeps it open.
        for _ in 1...100 {
            let candidate = Retention.Candidate(month: month, lookedAt: .max)
            if let position = try Retention.close(candidate, on: &connection) { return position }
        }
        throw PostgresError.decoding("the month could not be closed among so many writers")
    }

    /// Closes, counts and drops a month.
    func retain(_ month: CivilDate) throws {
        try close(month)
        var connection = try session(nil)
        try Retention.recordLosses(of: month, on: &connection)
        #expect(try Retention.drop(month, until: .after(seconds: 60), on: &connection) == .dropped)
    }

    /// Erases an install as the command does, without anything that was made of its events.
    @discardableResult
    func erase(_ install: UUID, of app: TestApp) throws -> Erasure.Deletion {
        var connection = try session(nil)
        let erasure = try Erasure.begin(app: app.id, install: install, on: &connection)
        return try erasure.finish(on: &connection)
    }

    /// Holds what readers are told to expect of each batch and shard against the rows that are there.
    func expectGateHolds(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let wrong: [String] = try column(
            """
            SELECT format('batch %s: expected %s %s, are %s %s', b.number, b.events, b.shard_events, present.events,
                present.shards)
            FROM log.batch_expected AS b CROSS JOIN LATERAL (
                SELECT sum(s.events) AS events, array_agg(s.events ORDER BY shard) AS shards FROM (
                    SELECT shard.shard, count(e.event_id)::integer AS events
                        FROM generate_series(0, \(TestDatabase.shards - 1)) AS shard (shard)
                    LEFT JOIN log.opened_event AS e ON e.batch_id = b.id AND e.shard = shard.shard GROUP BY shard.shard
                ) AS s
            ) AS present
            WHERE (b.events, b.shard_events) IS DISTINCT FROM (present.events::integer, present.shards)
            ORDER BY b.number
            """)
        #expect(wrong == [], sourceLocation: sourceLocation)
        let numbers: [Int64] = try column("SELECT number FROM log.batch ORDER BY number")
        #expect(numbers == numbers.indices.map { Int64($0) + 1 }, sourceLocation: sourceLocation)
    }
}

extension Erasure {
    /// All that comes after the beginning.
    func finish(on connection: inout Connection) throws(PostgresError) -> Deletion {
        let findings = try findEvents(on: &connection)
        return try connection.transaction { connection throws(PostgresError) in
            try deleteEvents(findings, on: &connection)
        }
    }
}

extension Verdict {
    var reason: RejectionReason? {
        if case .rejected(let rejection) = self { rejection.reason } else { nil }
    }
}
