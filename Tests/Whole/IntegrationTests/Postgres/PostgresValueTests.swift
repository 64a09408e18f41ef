import Postgres
import TestSupport
import Testing
import Values

@Suite("Values on their way to PostgreSQL and back")
struct PostgresValueTests {
    /// Sends a value and reads it back.
    private func echo<Value: PostgresValue>(_ value: Value, _ connection: inout Connection) throws -> Value {
        let bare = try connection.query("SELECT \(value)")[0].get(0, as: Value.self)
        let prepared = try connection.queryPrepared("SELECT \(value)")[0].get(0, as: Value.self)
        // What does not equal itself, like NaN, is told apart by its bytes.
        #expect(Statement.Parameter(prepared).bytes == Statement.Parameter(bare).bytes)
        return bare
    }

    private func expectEcho<Value: PostgresValue & Equatable>(
        of values: [Value], _ connection: inout Connection, at location: SourceLocation = #_sourceLocation
    ) throws {
        for value in values { #expect(try echo(value, &connection) == value, sourceLocation: location) }
        #expect(try echo(values, &connection) == values, sourceLocation: location)
        let holes = [nil] + values.flatMap { [$0, nil] }
        #expect(try echo(Nullables(holes), &connection).elements == holes, sourceLocation: location)
        #expect(try echo([Value](), &connection).isEmpty, sourceLocation: location)
        let none = try connection.query("SELECT \(Value?.none)")[0].optional(0, as: Value.self)
        #expect(none == nil, sourceLocation: location)
    }

    @Test("numbers and truth values come back as they were, the extremes too, alone and in arrays with nulls")
    func numbers() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try expectEcho(of: [Int16.min, -1, 0, 1, .max], &connection)
        try expectEcho(of: [Int32.min, -1, 0, 1, .max], &connection)
        try expectEcho(of: [Int64.min, -1, 0, 1, .max], &connection)
        try expectEcho(of: [true, false], &connection)
        try expectEcho(
            of: [
                0, 0.1, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .ulpOfOne, .infinity, -.infinity,
            ] as [Double], &connection)
        #expect(try echo(Double.nan, &connection).isNaN)
        #expect(try echo(-0.0, &connection).sign == .minus)
    }

    @Test("texts come back byte for byte: empty, four-byte characters, both spellings of an accent, quotes, a megabyte")
    func texts() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let texts = [
            "", " ", "é", "e\u{301}", "สวัสดี", "👩‍👩‍👧‍👦", "\u{10FFFF}", "\u{FFFE}", "a'b\"c\\d", "$1", "line\r\nline\ttab",
            "NULL", "{a,b}",
            String(repeating: "x", count: 1 << 20),
        ]
        try expectEcho(of: texts, &connection)
        for text in texts { #expect(try echo(text, &connection).utf8.elementsEqual(text.utf8)) }
    }

    @Test("an empty text is not NULL, and NULL is not an empty text")
    func emptyIsNotNull() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let row = try connection.query(
            """
            SELECT \("") IS NULL, \(String?.none) IS NULL, \(Bytea([])) IS NULL, length(\("")),
                \(Nullables(["", nil])) = ARRAY['', NULL]::text[]
            """)[0]
        #expect(try row.get(0) == false)
        #expect(try row.get(1) == true)
        #expect(try row.get(2) == false)
        #expect(try row.get(3, as: Int32.self) == 0)
        #expect(try row.get(4) == true)
    }

    @Test("times, days, identifiers, bytes and JSON come back as they were, to the last microsecond and bit")
    func others() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try expectEcho(
            of: [
                Timestamp.plausible.lowerBound, Timestamp.plausible.upperBound, Timestamp(microseconds: -1),
                Timestamp(microseconds: 0), Timestamp(microseconds: 1_795_167_010_000_001),
            ], &connection)
        try expectEcho(
            of: [
                CivilDate(year: 2000, month: 2, day: 29)!, CivilDate(year: 1999, month: 12, day: 31)!,
                CivilDate(year: 9999, month: 12, day: 31)!, CivilDate(daysSince1970: 0),
            ], &connection)
        try expectEcho(
            of: [UUID(high: 0, low: 0), UUID(high: .max, low: .max), UUID(high: 1 << 63, low: 1)], &connection)
        try expectEcho(of: [Bytea([]), Bytea([0]), Bytea(Array(0...255))], &connection)
        let json = JSONB(Array(#"{"a": [1, null, "é\\"]}"#.utf8))
        #expect(try echo(json, &connection) == json)
        #expect(try connection.query("SELECT \(json) -> 'a' ->> 2")[0].get(0) == "é\\")
    }

    @Test("what PostgreSQL makes of a value is what was meant by it")
    func meaning() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "SET timezone = 'UTC'")
        let row = try connection.query(
            """
            SELECT \(Timestamp(microseconds: 1_795_167_010_000_001))::text, \(CivilDate(year: 2026, month: 11, day: 20)!)::text,
                \(UUID("8F2F6F0E-6a0c-4d3a-9a52-0d6c2f6f7a11")!)::text, \(Bytea([222, 173]))::text, \(1.5)::text,
                \([Int16(1), 2])::text, \(Nullables<String>(["a", nil]))::text, \([Int64]())::text
            """)[0]
        #expect(try row.get(0) == "2026-11-20 09:30:10.000001+00")
        #expect(try row.get(1) == "2026-11-20")
        #expect(try row.get(2) == "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11")
        #expect(try row.get(3) == "\\xdead")
        #expect(try row.get(4) == "1.5")
        #expect(try row.get(5) == "{1,2}")
        #expect(try row.get(6) == "{a,NULL}")
        #expect(try row.get(7) == "{}")
    }

    @Test("times beyond time, and what is not a moment at all, are errors and not other times")
    func infinity() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let row = try connection.query("SELECT 'infinity'::timestamptz, '-infinity'::timestamptz")[0]
        #expect(throws: PostgresError.self) { try row.get(0, as: Timestamp.self) }
        #expect(throws: PostgresError.self) { try row.get(1, as: Timestamp.self) }
    }

    @Test("names, varchars, JSON texts and single letters of PostgreSQL's own tables read as texts")
    func readable() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let row = try connection.query(
            "SELECT relname, relkind, 'v'::varchar(9), '{}'::json FROM pg_class WHERE relname = 'pg_class'")[0]
        #expect(try row.get(0) == "pg_class")
        #expect(try row.get(1) == "r")
        #expect(try row.get(2) == "v")
        #expect(try row.get(3) == "{}")
    }

    @Test("another type, a NULL, a column or a row that is not there are errors")
    func wrongQuestions() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let rows = try connection.query(
            "SELECT 1::bigint AS count, NULL::text AS word, ARRAY['a', NULL] AS words, ARRAY[[1, 2], [3, 4]] AS square")
        let row = rows[0]
        #expect(decodingError { try row.get(0, as: Int32.self) } == "column count has type 20, not Int32")
        #expect(decodingError { try row.get(0, as: Timestamp.self) } == "column count has type 20, not Timestamp")
        #expect(decodingError { try row.get(0, as: [Int64].self) } == "column count has type 20, not Array<Int64>")
        #expect(decodingError { try row.get(1, as: String.self) } == "column word is null")
        #expect(try row.optional(1, as: String.self) == nil)
        #expect(decodingError { try row.get(2, as: [String].self) } == "column words does not read as Array<String>")
        #expect(decodingError { try row.get(3, as: [Int32].self) } == "column square does not read as Array<Int32>")
        #expect(decodingError { try row.get(4, as: String.self) } == "there is no column 4")
        #expect(decodingError { try row.get(-1, as: String.self) } == "there is no column -1")
        #expect(decodingError { try rows[1].get(0, as: Int64.self) } == "there is no row 1")
        #expect(decodingError { try rows[-1].get(0, as: Int64.self) } == "there is no row -1")
        #expect(decodingError { try row.get("many", as: Int64.self) } == Self.noColumn)
        #expect(decodingError { try rows.column("many", as: Int64.self) } == Self.noColumn)
        #expect(decodingError { try rows.column("count", as: Int32.self) } == "column count has type 20, not Int32")
        #expect(decodingError { try rows.column("word", as: String.self).get(0) } == "column word is null")
        #expect(decodingError { try rows.column("count", as: Int64.self).get(1) } == "there is no row 1")
        #expect(
            decodingError { try rows.value(as: Int64.self) } == "the statement gave the columns \(Self.names), not one")
        #expect(rows.count == 1)
        #expect(rows.first != nil)
        #expect(try connection.query("SELECT 1 WHERE false").isEmpty)
    }

    private static let names = ["count", "word", "words", "square"]
    private static let noColumn = "there is no column many among \(names)"

    @Test("columns are found by their names, one by one or once for all rows")
    func names() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let rows = try connection.query(
            """
            SELECT n AS number, 'x' || n AS word, nullif(n, 2)::smallint AS small, n::bigint AS "Big", '(0,7)'::tid AS place,
                timestamptz '2026-11-20 09:30Z' AS at, date '2026-11-20' AS day, '\\x01'::bytea AS bytes,
                '00000000-0000-0000-0000-00000000000a'::uuid AS id
            FROM generate_series(1, 3) AS n
            """)
        #expect(try rows.map { try $0.get("number") } == [1, 2, 3] as [Int32])
        #expect(try rows.map { try $0.optional("small") } == [1, nil, 3] as [Int16?])
        let (number, word) = (try rows.column("number", as: Int32.self), try rows.column("word", as: String.self))
        #expect(try rows.indices.map { "\(try number.get($0)) \(try word.get($0))" } == ["1 x1", "2 x2", "3 x3"])
        #expect(try rows.column("small", as: Int16.self).optional(1) == nil)
        #expect(try rows.column("\"Big\"", as: Int64.self).get(2) == 3)
        #expect(try rows.column("at", as: Timestamp.self).get(0) == rows[0].get("at"))
        #expect(try rows.column("day", as: CivilDate.self).get(0) == CivilDate(daysSince1970: 20777))
        #expect(try rows.column("bytes", as: Bytea.self).get(0) == Bytea([1]))
        #expect(try rows.column("id", as: UUID.self).get(0) == UUID(high: 0, low: 10))
        #expect(try rows.column("place", as: RowPlace.self).get(0) == rows[0].get("place"))
    }

    @Test("one value, one column of values, or none")
    func single() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        #expect(try connection.query("SELECT 7").value() == 7 as Int32)
        #expect(try connection.query("SELECT NULL::int").valueIfAny(as: Int32.self) == nil)
        #expect(try connection.query("SELECT 7 WHERE false").valueIfAny(as: Int32.self) == nil)
        #expect(try connection.query("VALUES (1), (2)").values() == [1, 2] as [Int32])
        let none = try connection.query("SELECT 7 WHERE false")
        #expect(decodingError { try none.value(as: Int32.self) } == "the statement gave no value")
        let many = try connection.query("VALUES (1), (2)")
        #expect(decodingError { try many.value(as: Int32.self) } == "the statement gave 2 rows, not one")
    }

    private func decodingError<Value>(_ body: () throws -> Value) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            guard case .decoding(let reason) = error as? PostgresError else { return "\(error)" }
            return reason
        }
    }

    @Test("bytes that are no array of the type give nil, whatever their lengths claim")
    func brokenArrays() {
        func header(_ dimensions: Int32, _ oid: UInt32, _ rest: [Int32]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: dimensions)
            bytes.append(bigEndian: Int32(0))
            bytes.append(bigEndian: oid)
            for number in rest { bytes.append(bigEndian: number) }
            return bytes
        }
        func read(_ bytes: [UInt8]) -> [Int32]? { bytes.withUnsafeBytes { [Int32](binary: $0) } }
        #expect(read(header(1, 23, [1, 1, 4, 7])) == [7])
        #expect(read(header(0, 23, [])) == [])
        #expect(read([]) == nil)
        #expect(read(header(1, 25, [1, 1, 4, 7])) == nil)
        #expect(read(header(2, 23, [1, 1, 1, 1, 4, 7])) == nil)
        #expect(read(header(1, 23, [-1, 1])) == nil)
        #expect(read(header(1, 23, [2, 1, 4, 7])) == nil)
        #expect(read(header(1, 23, [1, 1, 400, 7])) == nil)
        #expect(read(header(1, 23, [1, 1, 3, 7])) == nil)
    }
}
