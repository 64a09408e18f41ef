/// One row of a binary COPY from the server; valid only inside the closure that received it.
@safe package struct CopyRow {
    // SAFETY: points into libpq's buffer, which `copyOut` frees only after the closure has returned.
    private let fields: [UnsafeRawBufferPointer?]

    /// Nil for the end marker, and for malformed bytes.
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

    /// Adds the row as it is to others.
    func append(to bytes: inout CopyBytes) {
        for index in 0..<count {
            if let field = unsafe fields[index] {
                unsafe bytes.append(field: field)
            } else {
                bytes.append(bigEndian: Int32(-1))
            }
        }
    }

    /// The value of a column, nil for NULL. COPY does not send types, so asking for the wrong one is our mistake.
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

/// The bytes of a COPY that is being built. Numbers are written in place: appending each to an array as a sequence of
/// bytes cost as much as all the rest of a row.
struct CopyBytes: Sendable {
    /// Mostly longer than `count`.
    private var storage: [UInt8]
    private(set) var count = 0

    init(capacity: Int) {
        storage = [UInt8](repeating: 0, count: max(capacity, 64))
    }

    /// Shortens it to `count` bytes and keeps the memory.
    mutating func removeAll(after count: Int) { self.count = min(self.count, count) }

    mutating func append(bigEndian number: Int16) { store(number.bigEndian, 2) }
    mutating func append(bigEndian number: Int32) { store(number.bigEndian, 4) }
    mutating func append(bigEndian number: Int64) { store(number.bigEndian, 8) }
    mutating func append(_ byte: UInt8) { store(byte, 1) }

    /// Appends a field: its length, and its bytes.
    mutating func append(field text: String) {
        var text = text
        text.withUTF8 { bytes in unsafe append(field: UnsafeRawBufferPointer(bytes)) }
    }

    mutating func append(field bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { bytes in unsafe append(field: bytes) }
    }

    mutating func append(field bytes: Span<UInt8>) {
        append(bigEndian: Int32(bytes.count))
        append(bytes)
    }

    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in unsafe append(bytes) }
    }

    mutating func append(field bytes: UnsafeRawBufferPointer) {
        append(bigEndian: Int32(bytes.count))
        unsafe append(bytes)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        makeRoom(for: bytes.count)
        // SAFETY: there is room for so many bytes from `count` on.
        unsafe storage.withUnsafeMutableBytes { storage in
            unsafe UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        }
        count += bytes.count
    }

    /// The bytes written so far.
    func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        unsafe storage.withUnsafeBytes { storage in unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count])) }
    }

    @inline(__always)
    private mutating func store<Number: FixedWidthInteger>(_ number: Number, _ width: Int) {
        makeRoom(for: width)
        // SAFETY: there is room for so many bytes from `count` on; places need no alignment.
        unsafe storage.withUnsafeMutableBytes { storage in
            unsafe storage.storeBytes(of: number, toByteOffset: count, as: Number.self)
        }
        count += width
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if storage.count - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        storage += [UInt8](repeating: 0, count: max(storage.count, more))
    }
}
