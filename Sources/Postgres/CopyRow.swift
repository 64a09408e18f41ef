/// One row of a binary COPY from the server; valid only inside the closure that received it.
@safe package struct CopyRow {
    // SAFETY: points into libpq's buffer, which `copyOut` frees only after the closure has returned.
    private let fields: [UnsafeRawBufferPointer?]

    /// Nil for the end marker, and for bytes that are no row.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        func take(_ count: Int) -> UnsafeRawBufferPointer? {
            guard unsafe rest.count >= count else { return nil }
            defer { unsafe rest = rest.dropFirst(count) }
            return unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        guard let head = unsafe take(2), let count = unsafe Int16(bigEndian: head), count >= 0 else { return nil }
        var fields: [UnsafeRawBufferPointer?] = unsafe []
        for _ in 0..<count {
            guard let size = unsafe take(4), let length = unsafe Int32(bigEndian: size) else { return nil }
            if length < 0 {
                unsafe fields.append(nil)
            } else {
                guard let value = unsafe take(Int(length)) else { return nil }
                unsafe fields.append(value)
            }
        }
        unsafe self.fields = fields
    }

    package var count: Int { unsafe fields.count }

    /// The value of a column, nil for NULL. COPY names no types: asking for another one than was sent is our mistake.
    package func optional<Value: PostgresValue>(_ column: Int, as _: Value.Type = Value.self) throws(PostgresError)
        -> Value?
    {
        guard unsafe fields.indices.contains(column) else { throw .decoding("a COPY has no column \(column)") }
        guard let bytes = unsafe fields[column] else { return nil }
        guard let value = unsafe Value(binary: bytes) else {
            throw .decoding("column \(column) of a COPY does not read as \(Value.self)")
        }
        return value
    }

    package func get<Value: PostgresValue>(_ column: Int, as _: Value.Type = Value.self) throws(PostgresError) -> Value
    {
        guard let value = try optional(column, as: Value.self) else {
            throw .decoding("column \(column) of a COPY is null")
        }
        return value
    }
}
