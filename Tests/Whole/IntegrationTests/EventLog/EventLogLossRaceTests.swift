import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("Retention and erasure among writers at work")
struct EventLogLossRaceTests {
    private static let (january, february) = (TestDatabase.month(2011, 1), TestDatabase.month(2011, 2))
    private static let install = UUID(high: 0x8f2f_6f0e_6a0c_4d3a, low: 0x9a52_0d6c_2f6f_7a11)

    @Test("nothing of a closed month comes after its closing, nothing of an erased install stays, and the counts hold")
    func crossed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.make(Self.january)
        try database.make(Self.february)
        let app = try database.makeApp()
        let hasEnded = Lock(false)
        let written = Lock(0)
        let closedAt = Lock<Int64?>(nil)
        // Three writers, and in the midst of them who closes, counts, erases and drops.
        try together(4) { thread in
            if thread == 3 {
                defer { hasEnded.withLock { $0 = true } }
                func wait(for batches: Int) throws {
                    let target = written.withLock { $0 } + batches
                    try #require(written.wait(until: .after(seconds: 30)) { $0 >= target ? true : nil } == true)
                }
                var connection = try database.session(nil)
                try wait(for: 20)
                let position = try database.close(Self.january)
                closedAt.withLock { $0 = position }
                let erasure = try Erasure.begin(app: app.id, install: Self.install, on: &connection)
                try wait(for: 5)
                let findings = try erasure.findEvents(on: &connection)
                try Retention.recordLosses(of: Self.january, on: &connection)
                try wait(for: 5)
                let receipt = try connection.transaction { connection throws(PostgresError) in
                    try erasure.deleteEvents(findings, on: &connection)
                }
                #expect(receipt.total > 0)
                #expect(try Retention.drop(Self.january, until: .after(seconds: 60), on: &connection) == .dropped)
                try wait(for: 20)
                return
            }
            let appender = try database.appender(node: "node-\(thread)")
            var last: [Event] = []
            while !hasEnded.withLock({ $0 }) {
                let start = TestDatabase.noon(2011, .random(in: 1...2), 3) + .random(in: 0..<1_000_000_000)
                let events = (0..<5).map { place in
                    Event.sample(at: start + Int64(place), install: place == 2 ? Self.install : .random())
                }
                // Half of the last batch again: repeats cross with all the rest.
                let verdicts = try appender.append([app.submission(events + last.prefix(3))])[0]
                for (event, verdict) in zip(events, verdicts) {
                    let expected: [RejectionReason?] =
                        event.source.installID == Self.install
                        ? [.erased, .tooOld] : start < TestDatabase.noon(2011, 2, 1) ? [.tooOld] : []
                    #expect(verdict == .accepted || expected.contains(verdict.reason))
                }
                last = events
                written.withLockNotifying { $0 += 1 }
            }
        }
        let position = try #require(closedAt.withLock { $0 })
        let late: Int64 = try database.value(
            """
            SELECT count(*) FROM log.batch AS b JOIN log.batch_loss AS l ON l.batch_id = b.id
            WHERE l.month IS NOT NULL AND b.number > \(position)
            """)
        #expect(late == 0)
        #expect(
            try database.value("SELECT count(*) FROM log.event WHERE device_at < '2011-02-01'", as: Int64.self) == 0)
        #expect(
            try database.value(
                "SELECT count(*) FROM log.event WHERE install_id = \(Self.install)", as: Int64.self) == 0)
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) > 100)
        try database.expectGateHolds()
    }

    @Test("a commit that holds the head when an erasure begins is found by it, and one that comes later is turned back")
    func headHeld() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.make(Self.february)
        let app = try database.makeApp()
        let event = Event.sample(at: TestDatabase.noon(2011, 2, 3), install: Self.install)
        var another = event
        another.id = .random()
        let late = another
        let stage = Lock(0)
        let verdicts = Lock<[[Verdict]]>([])
        let writer = Worker(name: "writer") {
            guard let stale = try? database.appender(node: "stale") else { return }
            for (wanted, events) in [[event], [late, Event.sample(at: late.deviceAt)]].enumerated() {
                _ = stage.wait(until: .after(seconds: 60)) { $0 >= 2 * wanted ? true : nil }
                let outcome = try? stale.append([app.submission(events)])
                verdicts.withLock { $0 += outcome ?? [] }
                stage.withLockNotifying { $0 += 1 }
            }
        }
        _ = stage.wait(until: .after(seconds: 60)) { $0 == 1 ? true : nil }
        var head = try database.connect()
        try head.execute(script: "BEGIN; SELECT log.take_head(0)")
        let erasures = Lock<Erasure.Deletion?>(nil)
        let eraser = Worker(name: "eraser") {
            let receipt = try? database.erase(Self.install, of: app)
            erasures.withLock { $0 = receipt }
        }
        #expect(try database.hasWaiters(1))
        // Behind the erasure in the queue, with its rows written already.
        stage.withLockNotifying { $0 += 1 }
        #expect(try database.hasWaiters(2))
        try head.execute(script: "COMMIT")
        eraser.join()
        writer.join()
        #expect(erasures.withLock { $0 }?.total == 1)
        #expect(verdicts.withLock { $0 }.map { $0.map(\.reason) } == [[nil], [.erased, nil]])
        #expect(
            try database.value(
                "SELECT count(*) FROM log.event WHERE install_id = \(Self.install)", as: Int64.self) == 0)
        try database.expectGateHolds()
    }
}
