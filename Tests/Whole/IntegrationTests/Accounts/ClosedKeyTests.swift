import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The key is asked again when the commit is made")
struct ClosedKeyTests {
    private func revoke(_ app: TestApp, in database: TestDatabase) throws {
        var connection = try database.connect()
        try APIKeys.revoke(name: app.key.name, of: app.slug, on: &connection)
    }

    @Test("what came with a closed key is not stored, nor refused, nor counted; what came beside it is")
    func closed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (closed, open) = (try database.makeApp("closed"), try database.makeApp("open"))
        let appender = try database.appender()
        // It has its connection, and knows of no closed key.
        #expect(
            try appender.verdictsWithOpenKeys([closed.submission([Event.sample()])]) == [[.accepted]])
        try revoke(closed, in: database)
        let refused = RejectedEvent(id: nil, rejection: Rejection(.unknownType, "type"), raw: "{}")
        let drop = ClientDrop(id: .random(), count: 3, since: nil, reason: .age)
        let verdicts = try appender.verdictsWithOpenKeys([
            closed.submission([Event.sample()]), open.submission([Event.sample()]),
            closed.submission([], rejected: [refused], drops: [drop]),
        ])
        #expect(verdicts == [nil, [.accepted], nil])
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 2)
        #expect(
            try database.value("SELECT count(*) FROM log.rejected, log.client_drop", as: Int64.self) == 0)
        #expect(
            try database.value(
                "SELECT count(*) FROM log.batch_tally WHERE app = \(closed.id)", as: Int64.self) == 1)
        // One that is made later knows it from the start.
        #expect(try database.appender().verdictsWithOpenKeys([closed.submission([Event.sample()])]) == [nil])
        try database.expectGateHolds()
    }

    @Test("also in the midst of its commit: whichever is first, key or batch, the other one follows")
    func underWay() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        _ = try appender.verdictsWithOpenKeys([app.submission([Event.sample()])])
        // Somebody holds the head, so the commit waits with its events copied.
        var holder = try database.connect()
        try holder.execute(script: "BEGIN; SELECT log.take_head(0)")
        let verdicts = Lock<[[Verdict]?]?>(nil)
        let first = Worker(name: "first") { [appender = Handed(appender)] in
            let outcome = try? appender.value.verdictsWithOpenKeys([app.submission([Event.sample()])])
            verdicts.withLock { $0 = outcome }
        }
        #expect(try database.hasWaiters(1))
        // The decision is made while it waits.
        try holder.execute(
            script: "UPDATE log.api_key SET revoked_at = now() WHERE id = \(app.key.id); COMMIT")
        first.join()
        #expect(verdicts.withLock { $0 } == [nil])
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 1)
    }

    @Test("what a first part of the batch has stored stays accepted when a key is closed before the second")
    func halves() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (closed, open) = (try database.makeApp("closed"), try database.makeApp("open"))
        let appender = try database.appender()
        var owner = try database.connect()
        // The log refuses an event, so the batch goes in by halves; and the first half that is stored closes the key.
        try owner.execute(
            script: """
                ALTER TABLE log.event ADD CONSTRAINT no_poison CHECK (notification_key NOT LIKE 'poison%');
                CREATE FUNCTION public.close_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    -- At once, as the owner: the writer may not raise the history.
                    SET CONSTRAINTS log.announce_closed IMMEDIATE;
                    UPDATE log.api_key SET revoked_at = now() WHERE id = \(closed.key.id) AND revoked_at IS NULL;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER close_key AFTER INSERT ON log.batch FOR EACH ROW EXECUTE FUNCTION public.close_key();
                """)
        var poison = Event.sample(at: Event.sampleTime + 1_000_000)
        poison.notification.id = "poison"
        let events = [Event.sample(), Event.sample(), poison, Event.sample(at: Event.sampleTime + 2_000_000)]
        let late = Event.sample(at: Event.sampleTime + 3_000_000)
        let refused = RejectedEvent(id: nil, rejection: Rejection(.unknownType, "type"), raw: "{}")
        let verdicts = try appender.verdictsWithOpenKeys([
            open.submission(events, rejected: [refused]), closed.submission([late]),
        ])
        let unstorable = Verdict.rejected(Rejection(.unstorable, "PostgreSQL refused it (SQLSTATE 23514)"))
        #expect(verdicts == [[.accepted, .accepted, unstorable, .accepted], nil])
        let sums = try owner.query(
            "SELECT sum(accepted), sum(duplicate), sum((rejected ->> 'unknown_type')::int) FROM log.batch_tally")[0]
        #expect(try sums.get(0, as: Int64.self) == 3)
        #expect(try sums.get(1, as: Int64.self) == 0)
        #expect(try sums.get(2, as: Int64.self) == 1)
        try database.expectGateHolds()
    }

    @Test("an owner's own replay is not asked for its key")
    func replay() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try revoke(app, in: database)
        #expect(try database.appender().append([app.submission([Event.sample()])]) == [[.accepted]])
    }

    @Test("sends and categories are kept with an open key only")
    func beside() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        var connection = try database.session(.ingest)
        #expect(throws: Never.self) { try connection.query("SELECT log.require_open_key(\(app.key.id))") }
        try revoke(app, in: database)
        let error = #expect(throws: PostgresError.self) {
            try connection.query("SELECT log.require_open_key(\(app.key.id))")
        }
        #expect(error?.state == .keyClosed)
    }
}

/// Handed over to one thread, and used by no other.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
