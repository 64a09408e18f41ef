import Accounts
import EventLog
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

/// The unique index of the log holds hashes. Events that have the same one are as many events as they are.
@Suite("Events with the same time and the same hash")
struct EventLogCollisionTests {
    typealias UUID = Values.UUID

    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    /// So many of them, one on each of these installs in turn.
    private func twins(_ count: Int, on installs: [UUID] = [.random()], hash: UInt64 = .random(in: 0 ... .max)) throws
        -> [Event]
    {
        var connection = try database.connect()
        let makers = try installs.map { try HashTwins(install: $0, app: app.app.id, on: &connection) }
        let events = (0..<count).map { number in
            Event.sample(
                id: makers[number % makers.count].id(UInt32(number), hash: hash),
                install: installs[number % installs.count])
        }
        for event in events {
            let stored: Int64 = try connection.query(
                "SELECT uuid_hash_extended(\(event.id), uuid_hash_extended(\(event.source.installID), \(Int64(app.app.id))))"
            )[0].get(0)
            #expect(UInt64(bitPattern: stored) == hash)
        }
        #expect(Set(events.map(\.id)).count == count)
        return events
    }

    private func count() throws -> Int64 { try database.value("SELECT count(*) FROM log.event") }

    private func append(_ events: [Event]) throws -> [Verdict] {
        try database.appender().append([app.submission(events)])[0]
    }

    @Test("are stored each, one by one or together, and known again each", arguments: [1, 2])
    func each(installs: Int) throws {
        defer { database.drop() }
        let events = try twins(8, on: (0..<installs).map { _ in .random() })
        for event in events[..<3] { #expect(try append([event]) == [.accepted]) }
        for event in events[..<3] { #expect(try append([event]) == [.duplicate]) }
        #expect(try append(Array(events[2...])) == [.duplicate] + [Verdict](repeating: .accepted, count: 5))
        #expect(try append(events) == [Verdict](repeating: .duplicate, count: 8))
        #expect(try count() == 8)
        #expect(try database.column("SELECT codes & 15 FROM log.event ORDER BY 1") == Array(Int32(0)...7))
    }

    @Test("are stored together when the log holds none of them, beside others")
    func together() throws {
        defer { database.drop() }
        let events = try twins(5) + (0..<20).map { _ in Event.sample() }
        #expect(try append(events) == [Verdict](repeating: .accepted, count: 25))
        #expect(try append(events) == [Verdict](repeating: .duplicate, count: 25))
        #expect(try count() == 25)
    }

    @Test("are sixteen at most: who makes more on purpose has them refused, and harms nobody else's")
    func tooMany() throws {
        defer { database.drop() }
        let events = try twins(20) + [Event.sample()]
        let verdicts = try append(events)
        #expect(verdicts.filter { $0 == .accepted }.count == 17 && verdicts.last == .accepted)
        let refused = verdicts.compactMap { verdict in
            if case .rejected(let rejection) = verdict { rejection.reason } else { nil }
        }
        #expect(refused == [.unstorable, .unstorable, .unstorable, .unstorable])
        let again = try append(events)
        #expect(again.filter { $0 == .duplicate }.count == 17)
        #expect(try count() == 17)
    }

    @Test("are stored once each by writers that come with all of them at the same moment")
    func race() throws {
        defer { database.drop() }
        for _ in 0..<5 {
            let before = try count()
            let events = try twins(6)
            let accepted = Lock(0)
            try TestSupport.together(4) { writer in
                let verdicts = try append(writer % 2 == 0 ? events : events.reversed())
                accepted.withLock { $0 += verdicts.filter { $0 == .accepted }.count }
            }
            #expect(accepted.withLock { $0 } == 6)
            #expect(try count() == before + 6)
        }
    }

    @Test("are known again also when one is being stored while the one that came first is erased")
    func storedMeanwhile() throws {
        defer { database.drop() }
        let (gone, kept) = (UUID.random(), UUID.random())
        let events = try twins(2, on: [gone, kept])
        #expect(try append([events[0]]) == [.accepted])
        var owner = try database.connect()
        _ = try owner.query("SELECT log.begin_erasure(\(app.app.id), \(gone))")
        // A writer that knows of the erasure, and has seen the first event's tie.
        var writer = try database.session(.ingest)
        try writer.execute(script: "BEGIN; SELECT log.hold_ties()")
        try writer.query(
            """
            INSERT INTO log.event (batch_id, device_at, event_id, install_id, app, codes, notification_key)
            VALUES (9999, \(events[1].deviceAt), \(events[1].id), \(kept), \(app.app.id),
                \(Event.codes(of: .notificationExpanded) | 1), 'req-1')
            """)
        let control = try database.projections()
        let eraser = Worker(name: "eraser") { _ = try? ErasureRun(control).run(app: app.app.id, install: gone) }
        #expect(try database.hasWaiters(1))
        try writer.execute(script: "COMMIT")
        eraser.join()
        #expect(try count() == 1)
        #expect(try database.value("SELECT codes & 15 FROM log.event") == Int32(0))
        #expect(try append([events[1]]) == [.duplicate])
        #expect(try count() == 1)
    }

    @Test("are stored by a writer that keeps erasure waiting until it has committed")
    func held() throws {
        defer { database.drop() }
        let events = try twins(2)
        #expect(try append([events[0]]) == [.accepted])
        // The writer has stored the second beside the first, and waits for its number.
        var other = try database.connect()
        try other.execute(script: "BEGIN; SELECT FROM log.head FOR UPDATE")
        let verdicts = Lock<[Verdict]?>(nil)
        let writer = Worker(name: "writer") {
            let told = try? append([events[1]])
            verdicts.withLock { $0 = told }
        }
        #expect(
            try eventually {
                try database.value(
                    """
                    SELECT count(*) = 1 FROM pg_locks
                    WHERE relation = 'log.batch_loss'::regclass AND mode = 'RowExclusiveLock' AND granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)
            })
        try other.execute(script: "ROLLBACK")
        writer.join()
        #expect(verdicts.withLock { $0 } == [.accepted])
    }

    @Test("are known again when the one that came first has been erased")
    func erased() throws {
        defer { database.drop() }
        let (gone, kept) = (UUID.random(), UUID.random())
        let events = try twins(6, on: [gone, kept])
        for event in events { #expect(try append([event]) == [.accepted]) }
        _ = try ErasureRun(database.projections()).run(app: app.app.id, install: gone)
        #expect(try count() == 3)
        #expect(try database.value("SELECT min(codes & 15) FROM log.event") == Int32(0))
        let left = events.filter { $0.source.installID == kept }
        for event in left { #expect(try append([event]) == [.duplicate]) }
        #expect(try append(left) == [.duplicate, .duplicate, .duplicate])
        // There is room again, for another one.
        #expect(try append(try twins(1, on: [.random()])) == [.accepted])
        #expect(try count() == 4)
    }
}
