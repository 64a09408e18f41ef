import EventLog
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing
import Values

@Suite("Months are made beside the projections")
struct ProjectionMonthTests {
    private static let (old, older) = (TestDatabase.noon(2025, 3, 10), TestDatabase.noon(2025, 2, 10))

    /// A log with two events that wait elsewhere for the partitions of their months.
    private func makeLog() throws -> (database: TestDatabase, app: TestApp) {
        let database = try TestDatabase.make()
        let app = try database.makeApp()
        _ = try database.appender().append([app.submission([.sample(at: Self.old), .sample(at: Self.older)])])
        return (database, app)
    }

    /// Makes the two partitions one after the other, as the service does, each while a body waits to read there.
    private func makeMonths(
        in database: TestDatabase, beside body: @escaping @Sendable () throws -> Void
    ) throws {
        let events = Lock<[String]>([])
        @Sendable func note(_ event: String) { events.withLockNotifying { $0.append(event) } }
        @Sendable func wait(for event: String) {
            _ = events.wait(until: .after(seconds: 60)) { $0.contains(event) ? true : nil }
        }
        /// Waits until so many wait for a table, behind the move; nobody will any more once the body has ended.
        @Sendable func waitForWaiters(_ count: Int64) throws {
            _ = try eventually(within: 5) {
                let waiting: Int64 = try database.value(
                    """
                    SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database AS d ON d.oid = database
                    WHERE NOT granted AND locktype = 'relation' AND datname = current_database()
                    """)
                return waiting >= count || events.withLock { $0.contains("body ended") }
            }
        }
        @Sendable func make(_ month: String, waiters: Int64) throws {
            var connection = try database.connect()
            let script = "BEGIN; SELECT log.make_partition('\(month)')"
            let made = eventually {
                do { try connection.execute(script: script) } catch { connection.rollBack() }
                return connection.isInTransaction
            }
            #expect(made)
            note("made \(month)")
            try waitForWaiters(waiters)
            try connection.execute(script: "COMMIT")
        }
        try together(3) { number in
            switch number {
            case 0: try make("2025-03-01", waiters: 2)
            case 1:
                wait(for: "made 2025-03-01")
                defer { note("body ended") }
                try body()
            default:
                wait(for: "made 2025-03-01")
                try waitForWaiters(1)
                try make("2025-02-01", waiters: 1)
            }
        }
        #expect(try database.value("SELECT count(*) FROM log.event_elsewhere", as: Int64.self) == 0)
    }

    @Test("a month that is made while a step begins to read hides none of its events: nothing stops")
    func step() throws {
        let (database, _) = try makeLog()
        defer { database.drop() }
        var control = ProjectionControl(url: try database.url(), log: .silent)
        control.lanes = 1
        let catching = control
        try makeMonths(in: database) { _ = try catching.catchUp() }
        #expect(try control.stopped().map(\.reason) == [])
        #expect(try database.value("SELECT count(*) FROM analytics.deliveries", as: Int64.self) == 2)
    }

    @Test("a month that is made while an install is looked for hides none of its events: all are erased")
    func erasure() throws {
        let (database, app) = try makeLog()
        defer { database.drop() }
        let control = ProjectionControl(url: try database.url(), log: .silent)
        let installs: [UUID] = try database.column("SELECT install_id FROM log.event ORDER BY device_at")
        try makeMonths(in: database) {
            let receipt = try ErasureRun(control).run(app: app.id, install: installs[0])
            #expect(receipt.own.events == 1)
        }
        #expect(try database.column("SELECT install_id FROM log.event") == [installs[1]])
    }

    @Test("a month that is made while the log is verified hides none of its events")
    func verification() throws {
        let (database, _) = try makeLog()
        defer { database.drop() }
        #expect(try ProjectionControl(url: database.url(), log: .silent).catchUp().stopped.isEmpty)
        try makeMonths(in: database) {
            var connection = try database.session(nil)
            let report = try Verifier().verify(on: &connection)
            #expect(report.isProved && report.events == 2, "\(report)")
        }
    }
}
