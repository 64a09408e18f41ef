import Accounts
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("One event is stored once")
struct EventLogIdentityTests {
    private func count(_ database: TestDatabase) throws -> Int64 {
        try database.value("SELECT count(*) FROM log.event")
    }

    @Test("the second copy in an envelope, in another envelope of the batch and in a later batch is a duplicate")
    func repeats() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (event, other) = (Event.sample(), Event.sample())
        let appender = try database.appender()
        #expect(
            try appender.append([app.submission([event, event, other]), app.submission([event])])
                == [[.accepted, .duplicate, .accepted], [.duplicate]])
        #expect(try appender.append([app.submission([other, event])]) == [[.duplicate, .duplicate]])
        #expect(try database.appender().append([app.submission([event])]) == [[.duplicate]])
        #expect(try count(database) == 2)
    }

    @Test("a retry that is received later, with another key or content, is still the event that is stored")
    func retry() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let event = Event.sample(category: "A")
        _ = try database.appender().append([app.submission([event])])
        var retry = Event.sample(
            id: event.id, at: event.deviceAt, occurredAt: event.occurredAt + 1, receivedAt: event.receivedAt + 1,
            install: event.source.installID, category: "B", interaction: .dismissed)
        retry.seq = 5
        #expect(
            try database.appender().append([app.submission([retry], receivedAt: retry.receivedAt)]) == [[.duplicate]])
        #expect(try database.column("SELECT category FROM analytics.events") == ["A"])
    }

    @Test("another install, app, device time or id makes another event")
    func distinct() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, otherApp) = (try database.makeApp(), try database.makeApp("other"))
        let event = Event.sample()
        let install = event.source.installID
        let events = [
            event, Event.sample(id: event.id, at: event.deviceAt),
            Event.sample(id: event.id, at: event.deviceAt + 1, install: install),
            Event.sample(at: event.deviceAt, install: install),
        ]
        let verdicts = try database.appender().append([app.submission(events), otherApp.submission([event])])
        #expect(verdicts == [[.accepted, .accepted, .accepted, .accepted], [.accepted]])
        #expect(try count(database) == 5)
    }

    @Test("writers that race with the same events in crossed orders all succeed, and each event is stored once")
    func race() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let (writers, rounds, size) = (4, 8, 120)
        let installs = (0..<5).map { _ in UUID.random() }
        let events = (0..<rounds).map { round in
            (0..<size).map { Event.sample(at: Event.sampleTime + Int64(round * size + $0), install: installs[$0 % 5]) }
        }
        let accepted = Lock(0)
        let duplicate = Lock(0)
        try together(writers) { writer in
            let appender = try database.appender(node: "node-\(writer)")
            for round in 0..<rounds {
                // Each writer gets the same events in another order, parted into other envelopes.
                let mine = writer % 2 == 0 ? events[round] : events[round].reversed()
                let middle = size * (writer + 1) / (writers + 1)
                let verdicts = try appender.append([
                    app.submission(Array(mine[middle...])), app.submission(Array(mine[..<middle])),
                ]).flatMap { $0 }
                accepted.withLock { $0 += verdicts.filter { $0 == .accepted }.count }
                duplicate.withLock { $0 += verdicts.filter { $0 == .duplicate }.count }
            }
        }
        #expect(accepted.withLock { $0 } == rounds * size)
        #expect(duplicate.withLock { $0 } == (writers - 1) * rounds * size)
        #expect(try count(database) == Int64(rounds * size))
        #expect(try database.value("SELECT sum(accepted) FROM log.batch_tally", as: Int64.self) == Int64(rounds * size))
        #expect(
            try database.value("SELECT sum(duplicate) FROM log.batch_tally", as: Int64.self)
                == Int64((writers - 1) * rounds * size))
    }

    @Test("a writer that meets another's uncommitted copy waits for it and then knows it")
    func uncommittedCopy() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let event = Event.sample()
        // The copy of a node whose commit takes its time: the columns that must have a value are enough.
        var slow = try database.connect()
        try slow.execute(script: "BEGIN")
        try slow.query(
            """
            INSERT INTO log.event (batch_id, device_at, event_id, install_id, app, codes, notification_key)
            VALUES (9999, \(event.deviceAt), \(event.id), \(event.source.installID), \(app.app.id),
                \(Event.codes(of: event.type)), 'req-1')
            """)
        let verdicts = Lock<[[Verdict]]?>(nil)
        let writer = Worker(name: "writer") {
            let outcome = try? database.appender().append([app.submission([event])])
            verdicts.withLock { $0 = outcome }
        }
        #expect(try database.hasWaiters(1))
        try slow.execute(script: "COMMIT")
        writer.join()
        #expect(verdicts.withLock { $0 } == [[.duplicate]])
    }
}
