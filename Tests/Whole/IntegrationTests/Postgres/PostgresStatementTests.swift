import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("Statements and their parameters")
struct PostgresStatementTests {
    @Test("a value is bound and never spliced, whatever it says")
    func injection() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept (text text)")
        let hostile = [
            "'; DROP TABLE kept; --", "$1", "$$; DROP TABLE kept; $$", "\\'; DROP TABLE kept; --", "{\"},{\"",
            "'||(SELECT current_user)||'", "\u{2019}; DROP TABLE kept; --",
        ]
        for text in hostile {
            let statement: Statement = "INSERT INTO kept VALUES (\(text))"
            #expect(statement.sql == "INSERT INTO kept VALUES ($1)")
            try connection.query(statement)
        }
        try connection.query("INSERT INTO kept SELECT unnest(\(hostile))")
        let stored = try connection.query("SELECT text FROM kept").map { row in try row.get(0, as: String.self) }
        #expect(stored == hostile + hostile)
    }

    @Test("a name is quoted whatever it holds, a quote that a combining mark hides included")
    func identifiers() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept ()")
        let names = [
            "plain", "Mixed Case", "quo\"te", "\"", "\"\"", "semi;colon", "quote\"\u{301}marked", "back\\slash",
            "select", "สวัสดี", "a\" (x int); DROP TABLE kept; --",
        ]
        for name in names {
            try connection.query("CREATE TABLE \(identifier: name) (text text)")
            try connection.query("INSERT INTO \(identifier: name) VALUES (\(name))")
            #expect(try connection.query("SELECT text FROM \(identifier: name)")[0].get(0) == name)
        }
        let tables = try connection.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").map { row in
            try row.get(0, as: String.self)
        }
        #expect(Set(tables) == Set(names + ["kept"]))
    }

    @Test("nil is NULL of its type")
    func null() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let nothing: Int64? = nil
        let row = try connection.query("SELECT pg_typeof(\(nothing))::text, \(nothing) IS NULL")[0]
        #expect(try row.get(0) == "bigint")
        #expect(try row.get(1) == true)
    }

    @Test("a prepared statement is parsed once, and with parameters of other types it is another statement")
    func prepared() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        for number in 1...3 {
            #expect(try connection.queryPrepared("SELECT \(Int32(number))")[0].get(0) == Int32(number))
        }
        #expect(try connection.query("SELECT count(*) FROM pg_prepared_statements")[0].get(0, as: Int64.self) == 1)
        #expect(try connection.queryPrepared("SELECT \(Int64.max)")[0].get(0) == Int64.max)
        #expect(try connection.queryPrepared("SELECT \(Event.sampleTime)")[0].get(0) == Event.sampleTime)
        #expect(try connection.queryPrepared("SELECT \("text")")[0].get(0) == "text")
        #expect(try connection.query("SELECT count(*) FROM pg_prepared_statements")[0].get(0, as: Int64.self) == 4)
    }

    @Test("a statement that does not parse leaves no half-prepared one behind")
    func brokenPrepare() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        for _ in 1...2 {
            let error = #expect(throws: PostgresError.self) { try connection.queryPrepared("SELECT FROM missing") }
            #expect(error?.state == .undefinedTable)
        }
        try connection.execute(script: "CREATE TABLE missing ()")
        #expect(try connection.queryPrepared("SELECT FROM missing").isEmpty)
    }

    @Test("how many rows a statement touched is known")
    func affected() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE number (value int)")
        #expect(try connection.query("INSERT INTO number SELECT generate_series(1, 7)").affected == 7)
        #expect(try connection.query("UPDATE number SET value = 0 WHERE value > 5").affected == 2)
        #expect(try connection.query("DELETE FROM number WHERE value = 99").affected == 0)
    }

    @Test("a script runs all of its statements or, when one fails, none")
    func script() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let error = #expect(throws: PostgresError.self) {
            try connection.execute(script: "CREATE TABLE a (); SELECT 1/0; CREATE TABLE b ()")
        }
        #expect(error?.state == SQLState("22012"))
        #expect(try connection.query("SELECT FROM pg_tables WHERE schemaname = 'public'").isEmpty)
        try connection.execute(script: "")
        #expect(connection.isUsable == true)
    }
}
