import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Deadlines and cancelling")
struct PostgresDeadlineTests {
    private func isTimedOut(_ error: PostgresError?) -> Bool {
        if case .timedOut = error { true } else { false }
    }

    @Test("a deadline ends a statement that waits, the connection is unusable afterwards, and others go on")
    func sleeping() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var other = try database.connect()
        var connection = try database.connect()
        connection.deadline = .after(seconds: 0.2)
        let began = Deadline.now
        let error = #expect(throws: PostgresError.self) { try connection.query("SELECT pg_sleep(3600)") }
        #expect(Deadline.now.nanoseconds - began.nanoseconds >= 190_000_000)
        #expect(isTimedOut(error) && error?.isRetriable == true && error?.isUnavailable == true)
        #expect(connection.isUsable == false)
        #expect(throws: PostgresError.self) { try connection.query("SELECT 1") }
        #expect(try other.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
    }

    @Test("a deadline ends a statement whose rows never end")
    func streaming() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        connection.deadline = .after(seconds: 0.2)
        let error = #expect(throws: PostgresError.self) {
            try connection.copyOut(
                "COPY (SELECT generate_series(1, 1e12::bigint)) TO STDOUT (FORMAT binary)", { _ in })
        }
        #expect(isTimedOut(error))
        #expect(connection.isUsable == false)
    }

    @Test("a deadline that has passed lets nothing begin, one without end lets everything")
    func passed() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        connection.deadline = .never
        #expect(try connection.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
        connection.deadline = .now
        let error = #expect(throws: PostgresError.self) { try connection.query("SELECT 1") }
        #expect(isTimedOut(error))
    }

    @Test("a transaction whose deadline passes is gone from the server")
    func transaction() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var other = try database.connect()
        try other.execute(script: "CREATE TABLE kept (number int)")
        var connection = try database.connect()
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction { (connection: inout Connection) throws(PostgresError) in
                try connection.query("INSERT INTO kept VALUES (1)")
                connection.deadline = .after(seconds: 0.1)
                // Waits without noticing that its client has gone, so it must not hold what others need.
                try connection.query("SELECT pg_sleep(0.5)")
            }
        }
        #expect(isTimedOut(error))
        #expect(
            try eventually {
                try other.query(
                    "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.5)' AND datname = current_database()"
                ).isEmpty
            })
        #expect(try other.query("SELECT count(*) FROM kept")[0].get(0, as: Int64.self) == 0)
    }

    @Test("a server that stands still holds nobody beyond the deadline, in a statement, a COPY or a new connection")
    func stoppedServer() throws {
        let cluster = try TestPostgres.separate()
        defer { TestPostgres.remove(cluster) }
        let url = cluster.connectionURL(database: "postgres")
        var asking = try Connection(url: url)
        var copying = try Connection(url: url)
        try copying.execute(script: "CREATE TEMP TABLE kept (text text)")
        let lines = try String(contentsOfFile: cluster.dataDirectory + "/pg/data/postmaster.pid", encoding: .utf8)
        let postmaster = try #require(lines.split(separator: "\n").first.flatMap { pid_t($0) })
        let askingPID: pid_t = try asking.query("SELECT pg_backend_pid()")[0].get(0)
        let copyingPID: pid_t = try copying.query("SELECT pg_backend_pid()")[0].get(0)
        let processes = [askingPID, copyingPID, postmaster]
        defer { for process in processes { kill(process, SIGCONT) } }
        for process in processes { kill(process, SIGSTOP) }

        asking.deadline = .after(seconds: 0.2)
        // The server moves again only when the test has ended.
        let unanswered = #expect(throws: PostgresError.self) { try asking.query("SELECT 1") }
        #expect(isTimedOut(unanswered))

        // More than the socket holds: the sending stands still, not only the answer.
        var rows = CopyRows(columns: 1)
        for _ in 0..<64 {
            rows.beginRow()
            rows.append(String(repeating: "x", count: 1 << 20))
        }
        copying.deadline = .after(seconds: 0.2)
        let unread = #expect(throws: PostgresError.self) {
            try copying.copyIn("COPY kept FROM STDIN (FORMAT binary)", rows)
        }
        #expect(isTimedOut(unread))

        #expect(throws: PostgresError.self) { _ = try Connection(url: url + "?connect_timeout=2") }
    }

    @Test("another thread cancels a statement, and the connection lives on")
    func cancelling() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let canceller = connection.cancelHandle()
        let handle = try #require(canceller)
        let backend: Int32 = try connection.query("SELECT pg_backend_pid()")[0].get(0)
        let url = try database.url()
        let thread = Worker(name: "canceller") {
            guard var watcher = try? Connection(url: url) else { return }
            let isAsleep = try? eventually {
                try watcher.query("SELECT FROM pg_stat_activity WHERE pid = \(backend) AND wait_event = 'PgSleep'")
                    .count == 1
            }
            if isAsleep == true { #expect(handle.cancel() == nil) }
        }
        let error = #expect(throws: PostgresError.self) { try connection.query("SELECT pg_sleep(30)") }
        thread.join()
        #expect(error?.state == .queryCanceled)
        #expect(connection.isUsable == true)
        #expect(try connection.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
    }

    @Test("cancelling what no longer runs is harmless, and a server that is gone is told")
    func cancellingNothing() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let canceller = connection.cancelHandle()
        let handle = try #require(canceller)
        #expect(handle.cancel() == nil)
        // The signal of the idle backend arrives before its next statement, or with it.
        _ = try? connection.query("SELECT 1")
        #expect(try connection.query("SELECT 1")[0].get(0, as: Int32.self) == 1)

        let cluster = try TestPostgres.separate()
        defer { TestPostgres.remove(cluster) }
        let lost = try Connection(url: cluster.connectionURL(database: "postgres"))
        let widow = lost.cancelHandle()
        let orphan = try #require(widow)
        cluster.release()
        #expect(orphan.cancel() != nil)
    }

    @Test("a connection is closed where its variable ends, also where a loop has set deadlines")
    func closed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        func others() throws -> Int64 {
            try database.value(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
        }
        func use(_ connection: inout Connection, _ rounds: inout Int) throws(PostgresError) {
            try connection.query("SELECT 1")
            rounds += 1
        }
        var rounds = 0
        do {
            var connection = try database.connect()
            while rounds < 3 {
                connection.deadline = .after(seconds: 10)
                try use(&connection, &rounds)
            }
        }
        func untilReturn() throws {
            var connection = try database.connect()
            while true {
                connection.deadline = .after(seconds: 10)
                try use(&connection, &rounds)
                if rounds == 6 { return }
            }
        }
        try untilReturn()
        #expect(rounds == 6)
        #expect(try eventually { try others() == 0 })
    }
}
