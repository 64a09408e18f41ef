import Postgres
import TestSupport
import Testing

@Suite("Transactions")
struct PostgresTransactionTests {
    private struct Refusal: Error, Equatable { let number: Int }

    private func prepare(_ database: TestDatabase) throws -> Connection {
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept (number int CHECK (number < 10))")
        return connection
    }

    private func count(_ database: TestDatabase) throws -> Int64 { try database.value("SELECT count(*) FROM kept") }

    @Test("a body that returns is committed, with what it returns")
    func commit() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        let answer = try connection.transaction { (connection: inout Connection) throws(PostgresError) in
            try connection.query("INSERT INTO kept VALUES (1)")
            return 42
        }
        #expect(answer == 42)
        #expect(try count(database) == 1)
        #expect(connection.isInTransaction == false)
    }

    @Test("a body that throws is rolled back, and its error is the one that comes out")
    func rollBack() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        let ours = #expect(throws: TransactionError<Refusal>.self) {
            try connection.transaction(failingWith: Refusal.self) {
                (connection: inout Connection) throws(Refusal) in
                _ = try? connection.query("INSERT INTO kept VALUES (1)")
                throw Refusal(number: 7)
            }
        }
        guard case .body(Refusal(number: 7)) = ours else {
            Issue.record("\(String(describing: ours))")
            return
        }
        let servers = #expect(throws: PostgresError.self) {
            try connection.transaction { (connection: inout Connection) throws(PostgresError) in
                try connection.query("INSERT INTO kept VALUES (1)")
                try connection.query("INSERT INTO kept VALUES (10)")
            }
        }
        #expect(servers?.state == .checkViolation)
        #expect(try count(database) == 0)
        #expect(connection.isUsable == true)
        #expect(connection.isInTransaction == false)
    }

    @Test("a body that hides a failed statement is not told that it was committed")
    func hiddenFailure() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction { (connection: inout Connection) throws(PostgresError) in
                try connection.query("INSERT INTO kept VALUES (1)")
                _ = try? connection.query("SELECT 1 / 0")
            }
        }
        #expect(error?.state == SQLState("25P02"))
        #expect(try count(database) == 0)
        #expect(connection.isInTransaction == false)
    }

    @Test("a commit that the server refuses is an error of the database")
    func refusedCommit() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        try connection.execute(script: "ALTER TABLE kept ADD UNIQUE (number) DEFERRABLE INITIALLY DEFERRED")
        let error = #expect(throws: TransactionError<Refusal>.self) {
            try connection.transaction(failingWith: Refusal.self) { (connection: inout Connection) throws(Refusal) in
                _ = try? connection.execute(script: "INSERT INTO kept VALUES (1), (1)")
            }
        }
        guard case .database(let failure) = error, failure.state == .uniqueViolation else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try count(database) == 0)
        #expect(connection.isInTransaction == false)
    }

    @Test("a failed savepoint inside is undone alone, and the rest is committed")
    func savepoint() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        try connection.transaction { (connection: inout Connection) throws(PostgresError) in
            try connection.execute(script: "INSERT INTO kept VALUES (1); SAVEPOINT inner_part")
            _ = try? connection.query("INSERT INTO kept VALUES (10)")
            try connection.execute(script: "ROLLBACK TO inner_part; INSERT INTO kept VALUES (2)")
        }
        #expect(try count(database) == 2)
    }

    @Test("a connection lost within is lost, and its transaction undone")
    func lostWithin() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction { (connection: inout Connection) throws(PostgresError) in
                try connection.query("INSERT INTO kept VALUES (1)")
                try connection.query("SELECT pg_terminate_backend(pg_backend_pid())")
            }
        }
        guard case .connection = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(connection.isUsable == false)
        #expect(try count(database) == 0)
    }

    @Test("a snapshot for reading sees one moment and writes nothing")
    func snapshot() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try prepare(database)
        var other = try database.connect()
        try connection.transaction(.repeatableReadOnly) { (connection: inout Connection) throws(PostgresError) in
            #expect(try connection.query("SELECT FROM kept").isEmpty)
            try other.query("INSERT INTO kept VALUES (1)")
            #expect(try connection.query("SELECT FROM kept").isEmpty)
        }
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction(.repeatableReadOnly) { (connection: inout Connection) throws(PostgresError) in
                try connection.query("INSERT INTO kept VALUES (2)")
            }
        }
        #expect(error?.state == SQLState("25006"))
    }
}
