import Postgres
import ServiceRuntime
import TestSupport
import Testing
import Values

@Suite("COPY")
struct PostgresCopyTests {
    @Test("a hundred thousand rows go in and come out as they were, nulls and empty texts among them")
    func bothWays() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(
            script: "CREATE TABLE row (number bigint, small smallint, half int, text text, at timestamptz, id uuid)")
        var rows = CopyRows(columns: 6)
        let count: Int64 = 100_000
        for number in 0..<count {
            rows.beginRow()
            rows.append(number)
            rows.append(Int16(truncatingIfNeeded: number))
            rows.append(number % 2 == 0 ? Int32(number) : nil)
            rows.append(number % 3 == 0 ? nil : number % 3 == 1 ? "" : "สวัสดี \(number)")
            rows.append(Timestamp(microseconds: number))
            rows.append(UUID(high: UInt64(number), low: .max))
        }
        #expect(rows.count == Int(count))
        #expect(try connection.copyIn("COPY row FROM STDIN (FORMAT binary)", rows) == Int(count))

        var next: Int64 = 0
        var wrong = 0
        try connection.copyOut("COPY (SELECT * FROM row ORDER BY number) TO STDOUT (FORMAT binary)") {
            row throws(PostgresError) in
            let number: Int64 = try row.get(0)
            let small: Int16 = try row.get(1)
            let half: Int32? = try row.optional(2)
            let text: String? = try row.optional(3)
            let at: Timestamp = try row.get(4)
            let id: UUID = try row.get(5)
            let isRight =
                row.count == 6 && number == next && small == Int16(truncatingIfNeeded: next)
                && half == (next % 2 == 0 ? Int32(next) : nil)
                && text == (next % 3 == 0 ? nil : next % 3 == 1 ? "" : "สวัสดี \(next)")
                && at == Timestamp(microseconds: next) && id == UUID(high: UInt64(next), low: .max)
            if !isRight { wrong += 1 }
            next += 1
        }
        #expect(next == count)
        #expect(wrong == 0)
        #expect(connection.isUsable == true)
    }

    @Test("no rows at all go in and come out, and rows that were emptied are new rows")
    func nothing() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE row (number int)")
        var rows = CopyRows(columns: 1)
        #expect(try connection.copyIn("COPY row FROM STDIN (FORMAT binary)", rows) == 0)
        try connection.copyOut("COPY row TO STDOUT (FORMAT binary)") { (_: CopyRow) in
            Issue.record("a row out of nothing")
        }
        rows.beginRow()
        rows.append(Int32(1))
        rows.removeAll()
        rows.beginRow()
        rows.append(Int32(2))
        #expect(try connection.copyIn("COPY row FROM STDIN (FORMAT binary)", rows) == 1)
        #expect(try connection.query("SELECT number FROM row")[0].get(0, as: Int32.self) == 2)
    }

    @Test(
        "a row that the server refuses fails the COPY as a whole and leaves the connection usable",
        arguments: [1, 50_000])
    func refusedRow(count: Int32) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE row (number int CHECK (number <> 0), text text)")
        // The poison stands first: much is still on its way when the server refuses.
        var rows = CopyRows(columns: 2)
        for number in 0..<count {
            rows.beginRow()
            rows.append(number)
            rows.append("some text to make it long enough for more than one piece")
        }
        let error = #expect(throws: PostgresError.self) {
            try connection.copyIn("COPY row FROM STDIN (FORMAT binary)", rows)
        }
        #expect(error?.state == .checkViolation)
        #expect(connection.isUsable == true)
        #expect(connection.isInTransaction == false)
        #expect(try connection.query("SELECT count(*) FROM row")[0].get(0, as: Int64.self) == 0)
    }

    @Test(
        "rows with more or fewer values than columns are refused before anything is sent, also when they even out",
        arguments: [[1], [3], [3, 1], [1, 3], [2, 1, 2, 3]])
    func unevenRows(values: [Int]) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE row (number int, text text)")
        var rows = CopyRows(columns: 2)
        for count in values {
            rows.beginRow()
            for _ in 0..<count { rows.appendNull() }
        }
        let copy = "COPY row FROM STDIN (FORMAT binary)"
        let error = #expect(throws: PostgresError.self) { try connection.copyIn(copy, rows) }
        #expect(error?.description.contains("does not have 2 values") == true && error?.isRetriable == false)
        // The same memory serves again, and so does the connection, on which nothing was begun.
        rows.removeAll()
        rows.beginRow()
        rows.append(Int32(1))
        rows.append("one")
        #expect(try connection.copyIn(copy, rows) == 1)
    }

    @Test("a COPY that does not begin is the server's refusal, and the connection lives on")
    func refusedStatement() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let into = #expect(throws: PostgresError.self) {
            try connection.copyIn("COPY missing FROM STDIN (FORMAT binary)", CopyRows(columns: 1))
        }
        #expect(into?.state == .undefinedTable)
        let out = #expect(throws: PostgresError.self) {
            try connection.copyOut("COPY missing TO STDOUT (FORMAT binary)", { _ in })
        }
        #expect(out?.state == .undefinedTable)
        let late = #expect(throws: PostgresError.self) {
            try connection.copyOut(
                "COPY (SELECT 1 / (3 - n) FROM generate_series(1, 3) AS n) TO STDOUT (FORMAT binary)", { _ in })
        }
        #expect(late?.state == SQLState("22012"))
        #expect(try connection.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
    }

    @Test("a statement through the wrong door is an error that ends, not a wait for ever")
    func wrongDoor() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let fromServer = "COPY (SELECT 1) TO STDOUT (FORMAT binary)"
        let toServer = "COPY row FROM STDIN (FORMAT binary)"
        let doors: [(inout Connection) throws -> Void] = [
            { try $0.execute(script: toServer) }, { try $0.execute(script: fromServer) },
            { try $0.query(Statement(toServer)) }, { try $0.copyIn(fromServer, CopyRows(columns: 1)) },
            { try $0.copyIn("SELECT 1", CopyRows(columns: 1)) }, { try $0.copyOut(toServer, { _ in }) },
            { try $0.copyOut("SELECT 1", { _ in }) },
        ]
        for door in doors {
            var connection = try database.connect()
            connection.deadline = .after(seconds: 60)
            try connection.execute(script: "CREATE TABLE IF NOT EXISTS row (number int)")
            let error = #expect(throws: PostgresError.self) { try door(&connection) }
            guard case .decoding = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(connection.isUsable == false)
        }
    }

    @Test(
        "a reader that has had enough gives the connection up; a wrong type, a NULL and a missing column are errors",
        arguments: [0, 1, 2, -1])
    func reader(column: Int) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        var failure: PostgresError?
        do throws(PostgresError) {
            try connection.copyOut("COPY (SELECT 1::bigint, NULL) TO STDOUT (FORMAT binary)") {
                row throws(PostgresError) in
                let value: Int32 = try row.get(column)
                Issue.record("column \(column) cannot be \(value)")
            }
        } catch { failure = error }
        guard case .decoding = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(connection.isUsable == false)
    }
}
