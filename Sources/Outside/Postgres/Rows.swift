internal import CLibPQ
package import Values

/// The result of a statement. Owns libpq's result; one thread at a time.
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

    /// What the server did, in its own words: `COMMIT`, `INSERT 0 5`.
    package var commandTag: String {
        guard let text = unsafe PQcmdStatus(handle) else { return "" }
        return unsafe String(cString: text)
    }

    /// One row of a result.
    package struct Row {
        fileprivate let rows: Rows
        fileprivate let index: Int

        /// The value in a column (from 0). NULL is an error here; `optional` accepts it.
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

/// Single values by row and column, nil for NULL: for results with many rows, since generic code (`Row.get`) is not
/// specialised across our modules. Asking for another type than the column has is an error here, too.
extension Rows {
    package func int16(_ row: Int, _ column: Int) throws(PostgresError) -> Int16? {
        guard let bytes = unsafe try bytes(row, column, Int16.oid, 2) else { return nil }
        return unsafe Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))
    }

    package func int32(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let bytes = unsafe try bytes(row, column, Int32.oid, 4) else { return nil }
        return unsafe Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))
    }

    package func int64(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = unsafe try bytes(row, column, Int64.oid, 8) else { return nil }
        return unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> UUID? {
        guard let bytes = unsafe try bytes(row, column, UUID.oid, 16) else { return nil }
        return unsafe UUID(binary: bytes)
    }

    package func timestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Timestamp? {
        guard let bytes = unsafe try bytes(row, column, Timestamp.oid, 8) else { return nil }
        guard let time = unsafe Timestamp(binary: bytes) else {
            throw .decoding("column \(column) is not a moment")
        }
        return time
    }

    package func day(_ row: Int, _ column: Int) throws(PostgresError) -> CivilDate? {
        guard let bytes = unsafe try bytes(row, column, CivilDate.oid, 4) else { return nil }
        return unsafe CivilDate(binary: bytes)
    }

    package func place(_ row: Int, _ column: Int) throws(PostgresError) -> RowPlace? {
        guard let bytes = unsafe try bytes(row, column, RowPlace.oid, 6) else { return nil }
        return unsafe RowPlace(binary: bytes)
    }

    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let bytes = unsafe try bytes(row, column, String.oid, nil) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    package func bytea(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        guard let bytes = unsafe try bytes(row, column, Bytea.oid, nil) else { return nil }
        return unsafe Array(bytes)
    }

    // SAFETY: what is returned points into the result, which lives as long as `self`; callers here copy at once.
    private func bytes(_ row: Int, _ column: Int, _ oid: UInt32, _ width: Int?) throws(PostgresError)
        -> UnsafeRawBufferPointer?
    {
        let (row, column) = (Int32(row), Int32(column))
        guard row >= 0, unsafe row < PQntuples(handle), column >= 0, unsafe column < PQnfields(handle) else {
            throw .decoding("there is no row \(row) with a column \(column)")
        }
        guard unsafe PQftype(handle, column) == oid else {
            throw .decoding("column \(column) has type \(unsafe PQftype(handle, column)), not \(oid)")
        }
        guard unsafe PQgetisnull(handle, row, column) == 0 else { return nil }
        let length = unsafe Int(PQgetlength(handle, row, column))
        guard width == nil || length == width else { throw .decoding("column \(column) is \(length) bytes long") }
        return unsafe UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: length)
    }
}
