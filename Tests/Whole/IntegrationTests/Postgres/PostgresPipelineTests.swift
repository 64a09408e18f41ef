import Postgres
import TestSupport
import Testing

@Suite("Pipelines")
struct PostgresPipelineTests {
    @Test("the answers come in the order of the statements")
    func order() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        for _ in 1...2 {
            let answers = try connection.pipeline([
                "SELECT \(Int32(1))", "CREATE TEMP TABLE t (n int) ON COMMIT DROP", "SELECT \("two"), \(String?.none)",
                "SELECT generate_series(1, 3)",
            ])
            #expect(answers.count == 4)
            #expect(try answers[0][0].get(0, as: Int32.self) == 1)
            #expect(answers[1].isEmpty)
            #expect(try answers[2][0].get(0, as: String.self) == "two")
            #expect(answers[3].count == 3)
        }
        #expect(try connection.pipeline([]).isEmpty)
    }

    @Test("what stands behind a failure does not run, what stands before it is undone, and the connection lives on")
    func failure() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept (number int CHECK (number < 10))")
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline([
                "INSERT INTO kept VALUES (\(Int32(1)))", "INSERT INTO kept VALUES (\(Int32(10)))",
                "INSERT INTO kept VALUES (\(Int32(2)))", "SELECT 1 / 0",
            ])
        }
        #expect(error?.state == .checkViolation)
        #expect(connection.isUsable == true)
        #expect(connection.isInTransaction == false)
        #expect(try connection.query("SELECT count(*) FROM kept")[0].get(0, as: Int64.self) == 0)
        #expect(try connection.pipeline(["SELECT 1", "SELECT 2"]).count == 2)
    }

    @Test("a COMMIT behind a failure is not reached: the transaction stands open and failed, and rolls back")
    func commitBehindFailure() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept (number int UNIQUE)")
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline([
                "BEGIN", "INSERT INTO kept VALUES (1)", "INSERT INTO kept VALUES (1)", "COMMIT",
            ])
        }
        #expect(error?.state == .uniqueViolation)
        #expect(connection.isInTransaction == true)
        connection.rollBack()
        #expect(connection.isInTransaction == false)
        #expect(try connection.query("SELECT FROM kept").isEmpty)
        try connection.pipeline(["BEGIN", "INSERT INTO kept VALUES (1)", "COMMIT"]).forEach { _ in }
        #expect(try connection.query("SELECT FROM kept").count == 1)
    }

    @Test("a statement that does not parse fails before any of them runs")
    func brokenStatement() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE kept (number int)")
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline(["INSERT INTO kept VALUES (1)", "SELECT FROM missing"])
        }
        #expect(error?.state == .undefinedTable)
        #expect(try connection.query("SELECT FROM kept").isEmpty)
    }

    @Test("megabytes both ways do not make the two sides wait for each other")
    func bothWaysAtOnce() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let text = String(repeating: "x", count: 4 << 20)
        let answers = try connection.pipeline([Statement](repeating: "SELECT \(text)", count: 8))
        for answer in answers { #expect(try answer[0].get(0, as: String.self).utf8.count == text.utf8.count) }
    }
}
