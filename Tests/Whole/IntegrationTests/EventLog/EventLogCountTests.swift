import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("What became of everything that was sent")
struct EventLogCountTests {
    private struct Line: Equatable {
        var key: Int32
        var quarter: Timestamp
        var counts: [Int32]
        var rejected: String?
    }

    private func lines(_ database: TestDatabase, batch: Int64) throws -> [Line] {
        var connection = try database.connect()
        return try connection.query(
            """
            SELECT t.key, t.received_quarter, ARRAY[t.accepted, t.duplicate, t.corrected, t.clamped, t.late],
                t.rejected::text
            FROM log.batch_tally AS t JOIN log.batch AS b ON b.id = t.batch_id
            WHERE b.number = \(batch) ORDER BY t.key, t.received_quarter
            """
        ).map { row in
            Line(key: try row.get(0), quarter: try row.get(1), counts: try row.get(2), rejected: try row.optional(3))
        }
    }

    @Test("accepted, duplicate, corrected, clamped, late and refused are counted by batch, key and quarter hour")
    func counts() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let appender = try database.appender()
        let now = Event.sampleTime
        let day: Int64 = 86_400_000_000
        let first = Event.sample()
        let events = [
            first, first,
            Event.sample(timeSource: .corrected), Event.sample(timeSource: .corrected),
            Event.sample(timeSource: .clamped),
            Event.sample(occurredAt: now + -day, receivedAt: now),  // a day to the microsecond is not over a day
            Event.sample(occurredAt: now + (-day - 1), receivedAt: now, timeSource: .corrected),
        ]
        func refused(_ reason: RejectionReason, _ raw: String) -> RejectedEvent {
            RejectedEvent(id: nil, rejection: Rejection(reason, ""), raw: raw)
        }
        let quarter = Timestamp(microseconds: 1_795_167_000_000_000)  // 09:30
        _ = try appender.append([
            app.submission(events, rejected: [refused(.tooOld, "1"), refused(.tooOld, "2"), refused(.invalidID, "3")]),
            app.submission([first], receivedAt: quarter + 899_999_999),
            app.submission([Event.sample()], receivedAt: quarter + 900_000_000),
            other.submission([]),
        ])
        let stored = try lines(database, batch: 1)
        #expect(
            stored == [
                Line(
                    key: app.key.id, quarter: quarter, counts: [6, 2, 3, 1, 1],
                    rejected: #"{"too_old": 2, "invalid_id": 1}"#),
                Line(key: app.key.id, quarter: quarter + 900_000_000, counts: [1, 0, 0, 0, 0], rejected: nil),
                Line(key: other.key.id, quarter: quarter, counts: [0, 0, 0, 0, 0], rejected: nil),
            ])
        // A stored copy counts as a duplicate and as nothing else.
        _ = try appender.append([app.submission([events[2], events[6]])])
        #expect(
            try lines(database, batch: 2) == [
                Line(key: app.key.id, quarter: quarter, counts: [0, 2, 0, 0, 0], rejected: nil)
            ])
        var connection = try database.connect(as: TestPostgres.analyst)
        let rows = try connection.query(
            "SELECT batch, events, duplicate, rejected, corrected, clamped, late FROM batches ORDER BY batch")
        let sums = try rows.map { row in try (0..<7).map { column in try row.get(column, as: Int64.self) } }
        #expect(sums == [[1, 7, 2, 3, 3, 1, 1], [2, 0, 2, 0, 0, 0, 0]])
    }

    @Test("every reason has a name in the counts")
    func reasons() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let refused = RejectionReason.allCases.enumerated().flatMap { place, reason in
            (0...place).map { RejectedEvent(id: nil, rejection: Rejection(reason, ""), raw: "\(reason) \($0)") }
        }
        _ = try database.appender().append([app.submission([], rejected: refused)])
        var connection = try database.connect()
        let rows = try connection.query(
            "SELECT n.key, n.value::int FROM log.batch_tally, jsonb_each_text(rejected) AS n")
        var counts: [String: Int32] = [:]
        for row in rows { counts[try row.get(0)] = try row.get(1) }
        var expected: [String: Int32] = [:]
        for (place, reason) in RejectionReason.allCases.enumerated() { expected[reason.rawValue] = Int32(place + 1) }
        #expect(counts == expected)
    }

    @Test("the log's status adds up")
    func status() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        let empty = try LogStatus.read(on: &connection)
        #expect(
            empty.head == 0 && empty.lastCommitAt == nil && empty.events == 0 && empty.apps == 0 && empty.rejected == 0)
        let app = try database.makeApp()
        let appender = try database.appender()
        for _ in 1...3 { _ = try appender.append([app.submission([Event.sample(), Event.sample()])]) }
        let status = try LogStatus.read(on: &connection)
        #expect(status.head == 3 && status.events == 6 && status.apps == 1)
        #expect(status.lastCommitAt != nil)
        #expect(status.databaseBytes > 1 << 20)
        #expect(status.partitions.map(\.name).last == "event_elsewhere")
        #expect(status.partitions.allSatisfy { $0.bytes > 0 && $0.estimatedRows >= 0 })
        #expect(status.partitions.count == 5)
    }
}
