/// A table that several databases have with the same rows. Its rows are written to one of them first, and from there to
/// the others as they are, numbers and times included.
package struct SharedTable: Sendable {
    package let name: String
    /// The columns of its primary key.
    private let key: [String]
    /// The columns that may change later; all others stay as they were stored.
    private let changing: [String]

    package init(_ name: String, key: [String], changing: [String] = []) {
        (self.name, self.key, self.changing) = (name, key, changing)
    }

    /// Some of its rows, in a form that every version of PostgreSQL reads.
    package struct Rows: Sendable {
        package let table: SharedTable
        /// An array of objects.
        fileprivate let json: String

        package var bytes: Int { json.utf8.count }
    }

    /// The rows that a condition of our own selects, with the values of its parameters.
    package func rows(
        where condition: StaticString, _ values: Statement.Parameter..., on connection: inout Connection
    ) throws(PostgresError) -> Rows {
        let question: String = "SELECT coalesce(json_agg(t), '[]')::text FROM \(name) AS t WHERE \(condition)"
        return Rows(table: self, json: try connection.query(Statement(question, values))[0].get(0))
    }

    /// Stores rows of another database. Returns how many of them this one did not have, or had otherwise.
    @discardableResult
    package static func store(_ rows: Rows, on connection: inout Connection) throws(PostgresError) -> Int {
        try rows.table.store(json: rows.json, on: &connection)
    }

    private func store(
        json: String, keepingOwn: Bool = false, on connection: inout Connection
    ) throws(PostgresError) -> Int {
        let new = changing.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let (present, other) = (changing.map { "t.\($0)" }, changing.map { "excluded.\($0)" })
        let conflict =
            changing.isEmpty || keepingOwn
            ? "DO NOTHING"
            : """
            (\(key.joined(separator: ", "))) DO UPDATE SET \(new)
            WHERE (\(present.joined(separator: ", "))) IS DISTINCT FROM (\(other.joined(separator: ", ")))
            """
        let insertion: String = """
            INSERT INTO \(name) AS t OVERRIDING SYSTEM VALUE
            SELECT * FROM json_populate_recordset(NULL::\(name), $1::json) ON CONFLICT \(conflict)
            """
        return try connection.query(Statement(insertion, [Statement.Parameter(json)])).affected
    }

    /// What all rows are together, to be compared with another database.
    package struct Content: Sendable, Equatable {
        package let count: Int64
        /// Does not depend on the order of the rows.
        let digest: String

        /// Of the rows of a query, each of which is one value, `said`.
        package init(
            of query: String, _ parameters: [Statement.Parameter] = [], on connection: inout Connection
        ) throws(PostgresError) {
            let question: String =
                "SELECT count(*), coalesce(sum(hashtextextended(said::text, 0)::numeric), 0)::text FROM (\(query)) AS t"
            let row = try connection.query(Statement(question, parameters))[0]
            (count, digest) = (try row.get(0), try row.get(1))
        }
    }

    package func content(on connection: inout Connection) throws(PostgresError) -> Content {
        try Content(of: "SELECT t AS said FROM \(name) AS t", on: &connection)
    }

    /// Stores the rows of `source` that `target` does not have, and sees to it that new rows get no number of theirs.
    /// Returns how many there are; nil, and nothing is changed, if a row is another one there under the same key.
    package func copyMissing(
        from source: inout Connection, to target: inout Connection
    ) throws(PostgresError) -> Int? {
        let keys = key.map { "t.\($0) = r.\($0)" }.joined(separator: " AND ")
        let changing = "ARRAY[\(changing.map { "'\($0)'" }.joined(separator: ", "))]::text[]"
        let question: String = """
            SELECT count(*) FROM json_populate_recordset(NULL::\(name), $1::json) AS r JOIN \(name) AS t ON \(keys)
            WHERE to_jsonb(t) - \(changing) <> to_jsonb(r) - \(changing)
            """
        let all: String = "SELECT * FROM \(name) ORDER BY \(key.joined(separator: ", "))"
        var others: Int64 = 0
        try pages(of: all, on: &source) { page throws(PostgresError) in
            others += try target.query(Statement(question, [Statement.Parameter(page)]))[0].get(0)
        }
        guard others == 0 else { return nil }
        var stored = 0
        try pages(of: all, on: &source) { page throws(PostgresError) in
            stored += try store(json: page, keepingOwn: true, on: &target)
        }
        if stored > 0, key.count == 1 {
            let last: String = """
                SELECT setval(own, greatest((SELECT max(\(key[0])) FROM \(name))::bigint, nextval(own)))
                FROM CAST(pg_get_serial_sequence($1, $2) AS regclass) AS own WHERE own IS NOT NULL
                """
            try target.query(Statement(last, [Statement.Parameter(name), Statement.Parameter(key[0])]))
        }
        return stored
    }

    /// How many rows a database has whose keys `source` does not have.
    package func surplus(
        of target: inout Connection, beside source: inout Connection
    ) throws(PostgresError) -> Int64 {
        let names = key.joined(separator: ", ")
        let question: String = """
            SELECT count(*) FROM json_populate_recordset(NULL::\(name), $1::json) AS t
            WHERE NOT EXISTS (SELECT FROM \(name) AS s WHERE (\(key.map { "s.\($0)" }.joined(separator: ", ")))
                = (\(key.map { "t.\($0)" }.joined(separator: ", "))))
            """
        var surplus: Int64 = 0
        try pages(of: "SELECT \(names) FROM \(name) ORDER BY \(names)", on: &target) { page throws(PostgresError) in
            surplus += try source.query(Statement(question, [Statement.Parameter(page)]))[0].get(0)
        }
        return surplus
    }

    /// The rows of a query as arrays of JSON objects, some thousands at a time.
    private func pages(
        of query: String, on source: inout Connection, _ body: (String) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        let cursor: String = "DECLARE shared_rows NO SCROLL CURSOR FOR SELECT row_to_json(t)::text FROM (\(query)) AS t"
        try source.transaction(.repeatableReadOnly) { source throws(PostgresError) in
            try source.execute(script: cursor)
            while true {
                var page: [String] = []
                for row in try source.query("FETCH 2000 FROM shared_rows") { page.append(try row.get(0)) }
                guard !page.isEmpty else { return }
                try body("[\(page.joined(separator: ","))]")
            }
        }
    }

    /// Stores all rows of `source` in `target`, in the order of their key and some thousands at a time. Returns how
    /// many `target` did not have, or had otherwise.
    package func copyAll(
        from source: inout Connection, to target: inout Connection
    ) throws(PostgresError) -> Int {
        var stored = 0
        try pages(of: "SELECT * FROM \(name) ORDER BY \(key.joined(separator: ", "))", on: &source) {
            page throws(PostgresError) in
            stored += try store(json: page, on: &target)
        }
        return stored
    }
}
