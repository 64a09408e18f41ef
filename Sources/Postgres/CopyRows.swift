package import Values

/// Rows in PostgreSQL's binary COPY format, built field by field in column order.
package struct CopyRows: Sendable {
    private var bytes: CopyBytes
    package private(set) var count = 0
    private let columns: Int
    /// How many values the last row still lacks: below 0 where it has too many.
    private var missing = 0
    /// A row before the last has more or fewer values than columns.
    private var isUneven = false

    /// Rows of so many columns; `capacity` is how many bytes are expected.
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

    package var byteCount: Int { bytes.count }

    /// Starts a row; exactly `columns` appends must follow. What does not have them is refused before it is sent.
    package mutating func beginRow() {
        if missing != 0 { isUneven = true }
        missing = columns
        bytes.append(bigEndian: Int16(columns))
        count += 1
    }

    /// Throws if some row has more or fewer values than there are columns: values would land in columns of others, or
    /// PostgreSQL would blame the data.
    func check() throws(PostgresError) {
        guard !isUneven, missing == 0 else { throw .decoding("a row to be copied does not have \(columns) values") }
    }

    package mutating func appendNull() {
        missing -= 1
        bytes.append(bigEndian: Int32(-1))
    }

    /// Any value; those of the types below have a way of their own, because generic code is not specialised across our
    /// modules: its metadata look-ups were what writers spent most time on.
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

    package mutating func append(_ value: Bool?) {
        guard let value else { return appendNull() }
        missing -= 1
        bytes.append(bigEndian: Int32(1))
        bytes.append(value ? 1 : 0)
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

    /// JSON text as `jsonb`.
    package mutating func append(json value: Span<UInt8>) {
        beginField(count: value.count + 1)
        bytes.append(JSONB.version)
        bytes.append(value)
    }

    /// Starts a value of so many bytes, which must follow one by one.
    package mutating func beginField(count: Int) {
        missing -= 1
        bytes.append(bigEndian: Int32(count))
    }

    /// The next byte of a value that was begun.
    package mutating func append(byte: UInt8) { bytes.append(byte) }

    /// The whole stream in pieces that a socket likes, the end marker included.
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
