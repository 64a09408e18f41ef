internal import CLibPQ
package import Values

/// The result of a statement. Owns libpq's result; one thread at a time.
@safe package final class Rows: RandomAccessCollection {
    // SAFETY: `handle` is libpq's own memory, freed once in `deinit`; rows and values are copied out of it and never
    // point into it after a call returns.
    let handle: OpaquePointer
    package let endIndex: Int

    /// Takes over a result.
    init(adopting result: OpaquePointer) {
        unsafe handle = result
        endIndex = unsafe Int(PQntuples(result))
    }

    deinit { unsafe PQclear(handle) }

    package var startIndex: Int { 0 }
    package subscript(position: Int) -> Row { Row(rows: self, index: position) }

    /// How many rows an INSERT, UPDATE, DELETE or COPY touched.
    package var affected: Int {
        guard let text = unsafe PQcmdTuples(handle) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// What the server did, in its own words: `COMMIT`, `INSERT 0 5`.
    package var commandTag: String {
        guard let text = unsafe PQcmdStatus(handle) else { return "" }
        return unsafe String(cString: text)
    }

    /// One row of a result.
    package struct Row {
        fileprivate let rows: Rows
        fileprivate let index: Int

        /// The value in the column of that name. NULL is an error here; `optional` accepts it.
        package func get<Value: PostgresValue>(
            _ name: String, as _: Value.Type = Value.self
        ) throws(PostgresError) -> Value { try get(rows.place(of: name)) }

        /// The value in the column of that name, nil for NULL.
        package func optional<Value: PostgresValue>(
            _ name: String, as _: Value.Type = Value.self
        ) throws(PostgresError) -> Value? { try optional(rows.place(of: name)) }

        /// The value in a column (from 0).
        package func get<Value: PostgresValue>(
            _ column: Int, as _: Value.Type = Value.self
        ) throws(PostgresError) -> Value {
            guard let value = try optional(column, as: Value.self) else {
                throw .decoding("column \(rows.name(of: Int32(column))) is null")
            }
            return value
        }

        /// The value in a column, nil for NULL.
        package func optional<Value: PostgresValue>(
            _ column: Int, as _: Value.Type = Value.self
        ) throws(PostgresError) -> Value? {
            try rows.value(row: Int32(index), column: Int32(column))
        }
    }

    /// The values of the only column.
    package func values<Value: PostgresValue>(as _: Value.Type = Value.self) throws(PostgresError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        let column = try onlyColumn()
        for row in self { values.append(try row.get(column)) }
        return values
    }

    /// The only value of the only row.
    package func value<Value: PostgresValue>(as _: Value.Type = Value.self) throws(PostgresError) -> Value {
        guard let value = try valueIfAny(as: Value.self) else { throw .decoding("the statement gave no value") }
        return value
    }

    /// The only value of the only row; nil if there is no row, and for NULL.
    package func valueIfAny<Value: PostgresValue>(as _: Value.Type = Value.self) throws(PostgresError) -> Value? {
        let column = try onlyColumn()
        guard count <= 1 else { throw .decoding("the statement gave \(count) rows, not one") }
        return try first?.optional(column)
    }

    private func onlyColumn() throws(PostgresError) -> Int {
        let names = columnNames
        guard names.count == 1 else { throw .decoding("the statement gave the columns \(names), not one") }
        return 0
    }

    /// Where the column of that name is.
    fileprivate func place(of name: String) throws(PostgresError) -> Int {
        let place = unsafe PQfnumber(handle, name)
        guard place >= 0 else { throw .decoding("there is no column \(name) among \(columnNames)") }
        return Int(place)
    }

    fileprivate func name(of column: Int32) -> String {
        unsafe PQfname(handle, column).map { unsafe String(cString: $0) } ?? "\(column)"
    }

    private func value<Value: PostgresValue>(row: Int32, column: Int32) throws(PostgresError) -> Value? {
        guard indices.contains(Int(row)) else { throw .decoding("there is no row \(row)") }
        guard unsafe (0..<PQnfields(handle)).contains(column) else { throw .decoding("there is no column \(column)") }
        try check(column, is: Value.self)
        guard unsafe PQgetisnull(handle, row, column) == 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
        guard let value = unsafe Value(binary: bytes) else {
            throw .decoding("column \(name(of: column)) does not read as \(Value.self)")
        }
        return value
    }

    fileprivate func check<Value: PostgresValue>(_ column: Int32, is _: Value.Type) throws(PostgresError) {
        let oid = unsafe PQftype(handle, column)
        guard oid == Value.oid || Value.readableOIDs.contains(oid) else {
            throw .decoding("column \(name(of: column)) has type \(oid), not \(Value.self)")
        }
    }
}

extension Rows {
    /// The column of that name and type, for results with many rows: it is looked for and checked once.
    package func column<Value: PostgresValue>(
        _ name: String, as _: Value.Type = Value.self
    ) throws(PostgresError) -> Column<Value> {
        let place = Int32(try place(of: name))
        try check(place, is: Value.self)
        return Column(rows: self, place: place)
    }

    /// One column of a result. Its types have methods of their own, because generic code (`Row.get`) is not specialised
    /// across our modules. NULL is an error for `get`; `optional` accepts it.
    package struct Column<Value: PostgresValue> {
        fileprivate let rows: Rows
        fileprivate let place: Int32

        // SAFETY: what is returned points into the result, which lives as long as `rows`; callers here copy at once.
        @inline(__always)
        fileprivate func bytes(_ row: Int, _ width: Int?) throws(PostgresError) -> UnsafeRawBufferPointer? {
            guard row >= 0, row < rows.endIndex else { throw .decoding("there is no row \(row)") }
            let length = unsafe Int(PQgetlength(rows.handle, Int32(row), place))
            // NULL has no length.
            if length == 0, unsafe PQgetisnull(rows.handle, Int32(row), place) != 0 { return nil }
            guard width == nil || length == width else {
                throw .decoding("column \(rows.name(of: place)) is \(length) bytes long")
            }
            return unsafe UnsafeRawBufferPointer(start: PQgetvalue(rows.handle, Int32(row), place), count: length)
        }

        @inline(__always)
        fileprivate func needed(_ value: Value?) throws(PostgresError) -> Value {
            guard let value else { throw .decoding("column \(rows.name(of: place)) is null") }
            return value
        }
    }
}

extension Rows.Column where Value == Int16 {
    package func get(_ row: Int) throws(PostgresError) -> Int16 { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> Int16? {
        guard let bytes = unsafe try bytes(row, 2) else { return nil }
        return unsafe Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))
    }
}

extension Rows.Column where Value == Int32 {
    package func get(_ row: Int) throws(PostgresError) -> Int32 { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> Int32? {
        guard let bytes = unsafe try bytes(row, 4) else { return nil }
        return unsafe Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))
    }
}

extension Rows.Column where Value == Int64 {
    package func get(_ row: Int) throws(PostgresError) -> Int64 { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> Int64? {
        guard let bytes = unsafe try bytes(row, 8) else { return nil }
        return unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }
}

extension Rows.Column where Value == UUID {
    package func get(_ row: Int) throws(PostgresError) -> UUID { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> UUID? {
        guard let bytes = unsafe try bytes(row, 16) else { return nil }
        return unsafe UUID(binary: bytes)
    }
}

extension Rows.Column where Value == Timestamp {
    package func get(_ row: Int) throws(PostgresError) -> Timestamp { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> Timestamp? {
        guard let bytes = unsafe try bytes(row, 8) else { return nil }
        guard let time = unsafe Timestamp(binary: bytes) else {
            throw .decoding("column \(rows.name(of: place)) is not a moment")
        }
        return time
    }
}

extension Rows.Column where Value == CivilDate {
    package func get(_ row: Int) throws(PostgresError) -> CivilDate { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> CivilDate? {
        guard let bytes = unsafe try bytes(row, 4) else { return nil }
        return unsafe CivilDate(binary: bytes)
    }
}

extension Rows.Column where Value == RowPlace {
    package func get(_ row: Int) throws(PostgresError) -> RowPlace { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> RowPlace? {
        guard let bytes = unsafe try bytes(row, 6) else { return nil }
        return unsafe RowPlace(binary: bytes)
    }
}

extension Rows.Column where Value == String {
    package func get(_ row: Int) throws(PostgresError) -> String { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> String? {
        guard let bytes = unsafe try bytes(row, nil) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}

extension Rows.Column where Value == Bytea {
    package func get(_ row: Int) throws(PostgresError) -> Bytea { try needed(optional(row)) }

    package func optional(_ row: Int) throws(PostgresError) -> Bytea? {
        guard let bytes = unsafe try bytes(row, nil) else { return nil }
        return unsafe Bytea(Array(bytes))
    }
}
