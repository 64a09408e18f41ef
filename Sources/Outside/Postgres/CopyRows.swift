package import Values

/// Rows in PostgreSQL's binary COPY format, built field by field in column order.
package struct CopyRows: Sendable {
    private var bytes: CopyBytes
    package private(set) var count = 0
    private let columns: Int
    /// How many values the last row still needs; below 0 if it has too many.
    private var missing = 0
    /// Whether an earlier row has more or fewer values than columns.
    private var isUneven = false

    /// Rows with that many columns; `capacity` is the expected number of bytes.
    package init(columns: Int, capacity: Int = 1_024) {
        self.columns = columns
        bytes = CopyBytes(capacity: capacity)
        unsafe CopyRows.signature.withUnsafeBytes { signature in unsafe bytes.append(signature) }
    }

    /// Empties it and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(after: CopyRows.signature.count)
        (count, missing, isUneven) = (0, 0, false)
    }

    /// Starts a row; exactly `columns` appends must follow. A row with more or fewer is refused before it is sent.
    package mutating func beginRow() {
        if missing != 0 { isUneven = true }
        missing = columns
        bytes.append(bigEndian: Int16(columns))
        count += 1
    }

    /// Appends a row that another database sent.
    mutating func append(_ row: CopyRow) {
        beginRow()
        missing -= row.count
        row.append(to: &bytes)
    }

    /// Throws if a row has more or fewer values than there are columns: values would land in the wrong columns, or
    /// PostgreSQL would blame the data.
    func check() throws(PostgresError) {
        guard !isUneven, missing == 0 else { throw .decoding("a row to be copied does not have \(columns) values") }
    }

    package mutating func appendNull() {
        missing -= 1
        bytes.append(bigEndian: Int32(-1))
    }

    /// Appends any value. The types below have their own methods, because generic code is not specialised across our
    /// modules: writers spent most of their time on its metadata look-ups.
    package mutating func append<Value: PostgresValue>(_ value: Value?) {
        guard let value else { return appendNull() }
        missing -= 1
        var field: [UInt8] = []
        value.encode(into: &field)
        bytes.append(field: field)
    }

    package mutating func append(_ value: Int16?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(bigEndian: Int32(2))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Int32?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(bigEndian: Int32(4))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Int64?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Timestamp?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value.microsecondsOfPostgres)
    }

    package mutating func append(_ value: UUID) {
        missing -= 1
        bytes.append(bigEndian: Int32(16))
        bytes.append(bigEndian: Int64(bitPattern: value.high))
        bytes.append(bigEndian: Int64(bitPattern: value.low))
    }

    package mutating func append(_ value: String?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(field: value)
    }

    package mutating func append(_ value: CivilDate) {
        missing -= 1
        bytes.append(bigEndian: Int32(4))
        bytes.append(bigEndian: value.daysOfPostgres)
    }

    package mutating func append(bytes value: [UInt8]) {
        missing -= 1
        bytes.append(field: value)
    }

    package mutating func append(bytes value: Span<UInt8>) {
        missing -= 1
        bytes.append(field: value)
    }

    /// Appends JSON text as `jsonb`.
    package mutating func append(json value: Span<UInt8>) {
        beginField(count: value.count + 1)
        bytes.append(JSONB.version)
        bytes.append(value)
    }

    /// Starts a value of that many bytes, which must follow one by one.
    package mutating func beginField(count: Int) {
        missing -= 1
        bytes.append(bigEndian: Int32(count))
    }

    /// Appends the next byte of a value that was started.
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// Sends the whole stream, with the end marker, in pieces of a good size for a socket.
    func chunks(_ send: (UnsafeRawBufferPointer) throws(PostgresError) -> Void) throws(PostgresError) {
        var failure: PostgresError?
        func sendPieces(of bytes: UnsafeRawBufferPointer) {
            do throws(PostgresError) {
                var rest = unsafe bytes[...]
                while unsafe failure == nil && !rest.isEmpty {
                    let piece = unsafe rest.prefix(65_536)
                    unsafe try send(UnsafeRawBufferPointer(rebasing: piece))
                    unsafe rest = rest.dropFirst(piece.count)
                }
            } catch { failure = error }
        }
        unsafe bytes.withUnsafeBytes { bytes in unsafe sendPieces(of: bytes) }
        unsafe CopyRows.end.withUnsafeBytes { bytes in unsafe sendPieces(of: bytes) }
        if let failure { throw failure }
    }

    private static let end: [UInt8] = [0xFF, 0xFF]

    /// "PGCOPY\n\377\r\n\0", no flags, no header extension.
    private static let signature: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0] + [UInt8](repeating: 0, count: 8)
}
