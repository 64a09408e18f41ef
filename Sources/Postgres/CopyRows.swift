package import Telemetry

/// Rows in PostgreSQL's binary COPY format, built field by field in column order.
package struct CopyRows: Sendable {
    private var bytes: [UInt8]
    package private(set) var count = 0
    private let columns: Int

    /// Rows of so many columns.
    package init(columns: Int) {
        self.columns = columns
        bytes = CopyRows.signature
    }

    /// Empties it and keeps the memory.
    package mutating func removeAll() {
        bytes.removeSubrange(CopyRows.signature.count...)
        count = 0
    }

    package var byteCount: Int { bytes.count }

    /// Starts a row; exactly `columns` appends must follow.
    package mutating func beginRow() {
        bytes.append(bigEndian: Int16(columns))
        count += 1
    }

    package mutating func appendNull() {
        bytes.append(bigEndian: Int32(-1))
    }

    /// Any value; those of the types below have a way of their own, because generic code is not specialised across our
    /// modules: its metadata look-ups were what writers spent most time on.
    package mutating func append<Value: PostgresValue>(_ value: Value?) {
        guard let value else { return appendNull() }
        bytes.appendSized { bytes in value.encode(into: &bytes) }
    }

    package mutating func append(_ value: Int16?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(2))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Int32?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(4))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Int64?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value)
    }

    package mutating func append(_ value: Bool?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(1))
        bytes.append(value ? 1 : 0)
    }

    package mutating func append(_ value: Timestamp?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(8))
        value.encode(into: &bytes)
    }

    package mutating func append(_ value: UUID) {
        bytes.append(bigEndian: Int32(16))
        value.encode(into: &bytes)
    }

    package mutating func append(_ value: String?) {
        guard let value else { return appendNull() }
        bytes.append(bigEndian: Int32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    package mutating func append(_ value: CivilDate) {
        bytes.append(bigEndian: Int32(4))
        value.encode(into: &bytes)
    }

    package mutating func append(bytes value: [UInt8]) {
        bytes.append(bigEndian: Int32(value.count))
        bytes.append(contentsOf: value)
    }

    /// The whole stream in pieces that a socket likes, the end marker included.
    func chunks(_ send: (UnsafeRawBufferPointer) throws(PostgresError) -> Void) throws(PostgresError) {
        unsafe try bytes.withUnsafeBytesThrowing { bytes throws(PostgresError) in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe rest.prefix(65_536)
                unsafe try send(UnsafeRawBufferPointer(rebasing: piece))
                unsafe rest = rest.dropFirst(piece.count)
            }
        }
        unsafe try [UInt8]([0xFF, 0xFF]).withUnsafeBytesThrowing(send)
    }

    /// "PGCOPY\n\377\r\n\0", no flags, no header extension.
    private static let signature: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0] + [UInt8](repeating: 0, count: 8)
}

extension [UInt8] {
    /// `withUnsafeBytes` with a typed error.
    fileprivate func withUnsafeBytesThrowing(
        _ body: (UnsafeRawBufferPointer) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        var failure: PostgresError?
        unsafe withUnsafeBytes { bytes in
            do throws(PostgresError) { unsafe try body(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
