internal import CLibPQ

/// What a statement gave back. Owns libpq's result; one thread at a time.
@safe package final class Rows: RandomAccessCollection {
    // SAFETY: `handle` is libpq's own memory, freed once in `deinit`; rows and values are copied out of it and never
    // point into it after a call returns.
    let handle: OpaquePointer

    /// Takes over a result.
    init(adopting result: OpaquePointer) {
        unsafe handle = result
    }

    deinit { unsafe PQclear(handle) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { unsafe Int(PQntuples(handle)) }
    package subscript(position: Int) -> Row { Row(rows: self, index: position) }

    /// How many rows an INSERT, UPDATE, DELETE or COPY touched.
    package var affected: Int {
        guard let text = unsafe PQcmdTuples(handle) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// What the server says that it did: `COMMIT`, `INSERT 0 5`.
    package var commandTag: String {
        guard let text = unsafe PQcmdStatus(handle) else { return "" }
        return unsafe String(cString: text)
    }

    /// One row of a result.
    package struct Row {
        fileprivate let rows: Rows
        fileprivate let index: Int

        /// The value in a column (from 0); a NULL is an error unless `Value?` is asked for by `optional`.
        package func get<Value: PostgresValue>(
            _ column: Int, as _: Value.Type = Value.self
        ) throws(PostgresError) -> Value {
            guard let value = try optional(column, as: Value.self) else {
                throw .decoding("column \(column) is null")
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

    private func value<Value: PostgresValue>(row: Int32, column: Int32) throws(PostgresError) -> Value? {
        guard unsafe (0..<PQntuples(handle)).contains(row) else { throw .decoding("there is no row \(row)") }
        guard unsafe (0..<PQnfields(handle)).contains(column) else { throw .decoding("there is no column \(column)") }
        let oid = unsafe PQftype(handle, column)
        guard oid == Value.oid || Value.readableOIDs.contains(oid) else {
            throw .decoding("column \(column) has type \(oid), not \(Value.self)")
        }
        guard unsafe PQgetisnull(handle, row, column) == 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
        guard let value = unsafe Value(binary: bytes) else {
            throw .decoding("column \(column) does not read as \(Value.self)")
        }
        return value
    }
}
