import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

/// To be erased, too, many names with one hash cost what others do.
@Suite("Names that PostgreSQL gives one hash are erased")
struct HashFloodErasureTests {
    @Test("an install whose times and notifications have one hash goes as fast as any")
    func install() throws {
        let count = 12_000
        // Microseconds since 2000 whose halves give the same when they are combined, some 72 minutes apart.
        let high = (Event.sampleTime.microseconds - 946_684_800_000_000) >> 32 - Int64(count)
        let times = (0..<Int64(count)).map { place in
            Timestamp(microseconds: 946_684_800_000_000 + ((high + place) << 32 | (high + place) & 0xFFFF_FFFF))
        }
        let database = try TestDatabase.make()
        defer { database.drop() }
        let hashes = try database.value(
            "SELECT count(DISTINCT timestamp_hash(at AT TIME ZONE 'UTC')) FROM unnest(\(times)) AS at", as: Int64.self)
        #expect(hashes == 1)
        let usual = try cost(
            times.enumerated().map { $1 + Int64($0) * 1_000 }, (0..<count).map { "notification \(10_000_000 + $0)" })
        let flood = try cost(times, CollidingTexts.make(count))
        #expect(flood <= 2 * usual + 0.3, "\(flood) \(usual)")
    }

    /// The processor time that PostgreSQL needs to delete as many events with one id, and to name their deliveries.
    private func cost(_ times: [Timestamp], _ keys: [String]) throws -> Double {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        let (install, id) = (UUID.random(), UUID.random())
        let events = zip(times, keys).map { time, key in
            var event = Event.sample(at: time, install: install)
            (event.id, event.notification.id) = (id, key)
            return event
        }
        for first in stride(from: 0, to: events.count, by: 2_000) {
            _ = try appender.append([app.submission(Array(events[first..<min(first + 2_000, events.count)]))])
        }
        var session = try ProjectionSession.open(
            url: try database.url(), role: nil, purpose: "tests", log: .silent)
        let erasure = try Erasure.begin(app: app.id, install: install, on: &session)
        let findings = try erasure.findEvents(on: &session)
        #expect(findings.events == Int64(events.count))
        return try HashFloodTests.processorTime(of: &session) { session in
            // Without this, PostgreSQL mostly sorts by chance: it takes both ways for equally bad.
            try session.execute(script: "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on")
            let receipt = try erasure.deleteEvents(findings, on: &session)
            var (deliveries, greatest) = (0, 0)
            try ErasureRun.eachPart(of: erasure, in: 0, most: 500, on: &session) { names, _ in
                deliveries += names.count
                greatest = max(greatest, names.count)
            }
            #expect(receipt.total == Int64(events.count) && deliveries == events.count && greatest <= 500)
            try session.execute(script: "COMMIT")
        }
    }

    @Test("a cell that gets a shard finds the installs that are erased, whatever their ids")
    func arrived() throws {
        let count: UInt32 = 9_000
        let twins = HashTwins()
        let usual = try costOfFinding((0..<count).map { UUID(high: UInt64($0) &* 0x9e37_79b9_7f4a_7c15, low: 1) })
        let flood = try costOfFinding((0..<count).map { twins.id($0, hash: 7) })
        #expect(flood <= 2 * usual + 0.3, "\(flood) \(usual)")
    }

    private func costOfFinding(_ installs: [UUID]) throws -> Double {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        for first in stride(from: 0, to: installs.count, by: 2_000) {
            let some = installs[first..<min(first + 2_000, installs.count)]
            _ = try appender.append([app.submission(some.map { Event.sample(install: $0) })])
        }
        try database.run(
            """
            INSERT INTO log.erasure (app, install_id, erased_at, history, number)
            SELECT app, install_id, '9999-01-01', 1, row_number() OVER () FROM log.event;
            ANALYZE log.erasure; ANALYZE log.event
            """)
        var session = try database.session(nil)
        // The join that it may choose where there are more of them.
        try session.execute(script: "SET enable_mergejoin = off; SET enable_nestloop = off")
        return try HashFloodTests.processorTime(of: &session) { session in
            let found = try ShardHistory(of: Array(0..<TestDatabase.shards)).halfErased(on: &session)
            #expect(found.count == installs.count)
        }
    }
}
