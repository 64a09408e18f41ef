import Accounts
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The log is append-only")
struct EventLogAppendOnlyTests {
    /// A database with an event in a month's partition and one in the default one.
    private func makeDatabase() throws -> TestDatabase {
        let database = try TestDatabase.make()
        let app = try database.makeApp()
        var connection = try database.connect()
        try connection.query("SELECT log.make_partition('2011-02-01')")
        let inMonth = Timestamp(microseconds: 1_297_000_000_000_000)
        _ = try database.appender().append([
            app.submission([
                Event.sample(at: inMonth), Event.sample(at: Timestamp(microseconds: 1_000_000_000_000_000)),
            ])
        ])
        return database
    }

    private static let tables = [
        "log.event", "log.event_2011_02", "log.event_elsewhere", "log.batch", "log.batch_tally",
    ]

    /// The column that an UPDATE touches.
    private static func statements(_ table: String) -> [String] {
        let column = table.hasPrefix("log.event") ? "seq" : table == "log.batch" ? "events" : "late"
        return ["UPDATE \(table) SET \(column) = 7", "DELETE FROM \(table)", "TRUNCATE \(table)"]
    }

    @Test("neither the owner nor a superuser changes, deletes or truncates events, batches or counts")
    func refused() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let sums: Statement = """
            SELECT count(*) + count(seq) + (SELECT count(*) + sum(events) FROM log.batch) + (SELECT sum(late)
                FROM log.batch_tally)
            FROM log.event
            """
        let before: Int64 = try database.value(sums)
        for isSuperuser in [false, true] {
            var connection = try isSuperuser ? database.administrator() : database.connect()
            for statement in Self.tables.flatMap(Self.statements) {
                let error = #expect(throws: PostgresError.self, "\(statement)") {
                    try connection.execute(script: statement)
                }
                #expect(error?.description.contains("refused: the log is append-only") == true, "\(statement)")
                #expect(error?.state == .insufficientPrivilege)
            }
        }
        #expect(try database.value(sums, as: Int64.self) == before)
    }

    @Test("every partition has the guards, those made later too")
    func everyPartition() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        let unguarded: [String] = try database.column(
            """
            SELECT c.relname FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'log.event'::regclass AND (
                SELECT array_agg(tgname::text ORDER BY tgname) FROM pg_trigger
                WHERE tgrelid = c.oid AND tgenabled = 'O' AND tgfoid = 'log.refuse_change'::regproc
            ) IS DISTINCT FROM ARRAY['append_only', 'no_truncate']
            """)
        #expect(unguarded == [])
        #expect(
            try database.value(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'log.event'::regclass", as: Int64.self) == 6)
    }

    @Test("the role that writes is forbidden by privilege to change anything, and cannot open the gate")
    func byPrivilege() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        var connection = try database.session(.ingest)
        // Even the setting that the gate leaves behind, forged, opens nothing for it.
        try connection.execute(
            script: "SELECT set_config('bellwether.gate', 'open in ' || pg_current_xact_id()::text, false)")
        let doors = [
            "SELECT log.open_gate()", "DROP TABLE log.event", "SELECT log.raise_history()",
            "SELECT log.close_month('2011-02-01', 1)", "SELECT log.count_month('2011-02-01')",
            "SELECT log.drop_month('2011-02-01')", "SELECT log.begin_erasure(1, gen_random_uuid())",
            "SELECT log.erase_events(1, gen_random_uuid(), 1)", "UPDATE log.head SET history = 0",
            "DELETE FROM log.erasure", "UPDATE log.partition SET closed_at = NULL", "DELETE FROM log.batch_loss",
        ]
        for statement in Self.tables.flatMap(Self.statements) + doors {
            let error = #expect(throws: PostgresError.self, "\(statement)") {
                try connection.execute(script: statement)
            }
            #expect(error?.state == .insufficientPrivilege)
            #expect(error?.description.contains("append-only") == false, "\(statement)")
        }
    }

    @Test("the gate opens for its one transaction")
    func gate() throws {
        let database = try makeDatabase()
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "BEGIN; SELECT log.open_gate(); UPDATE log.event SET seq = 7; COMMIT")
        #expect(try database.value("SELECT count(*) FROM log.event WHERE seq = 7", as: Int64.self) == 2)
        #expect(throws: PostgresError.self) { try connection.execute(script: "UPDATE log.event SET seq = 8") }
        // Rolled back, it is shut as well.
        try connection.execute(script: "BEGIN; SELECT log.open_gate(); DELETE FROM log.event; ROLLBACK")
        #expect(throws: PostgresError.self) { try connection.execute(script: "DELETE FROM log.event") }
        #expect(try database.value("SELECT count(*) FROM log.event", as: Int64.self) == 2)
    }
}
