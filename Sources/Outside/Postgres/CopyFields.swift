package import Values

/// One row of a binary COPY from the server, whose fields are taken one after another; valid only inside the closure
/// that received it. Large results are read in this way, since taking a field allocates nothing.
///
/// COPY sends no types, so asking for the wrong one is our mistake. It shows in `isWhole`.
@safe package struct CopyFields {
    // SAFETY: points into libpq's buffer, which `copyOut` frees only after the closure has returned. `next` alone reads
    // it, and checks each length.
    private let bytes: UnsafeRawBufferPointer
    private var place = 2
    private var isMalformed = false

    /// Nil for the end marker.
    init?(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
        guard bytes.count >= 2 else { return }
        if unsafe bytes.loadUnaligned(as: Int16.self) == -1 { return nil }
    }

    /// Whether each field was taken, as the type that it has.
    package var isWhole: Bool { unsafe !isMalformed && place == bytes.count }

    /// The bytes of the next field; nil for NULL, and beyond the last one.
    @inline(__always)
    private mutating func next() -> UnsafeRawBufferPointer? {
        guard unsafe place + 4 <= bytes.count else {
            isMalformed = true
            return nil
        }
        let length = unsafe Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
        place += 4
        guard length >= 0 else { return nil }
        guard unsafe length <= bytes.count - place else {
            isMalformed = true
            return nil
        }
        defer { place += length }
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[place..<place + length])
    }

    @inline(__always)
    private mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard let field = unsafe next() else { return nil }
        guard field.count == Number.bitWidth / 8 else {
            isMalformed = true
            return nil
        }
        return unsafe Number(bigEndian: field.loadUnaligned(as: Number.self))
    }

    package mutating func int32() -> Int32? { number(Int32.self) }

    package mutating func int64() -> Int64? { number(Int64.self) }

    package mutating func timestamp() -> Timestamp? {
        guard let field = unsafe next() else { return nil }
        guard let time = unsafe Timestamp(binary: field) else {
            isMalformed = true
            return nil
        }
        return time
    }

    package mutating func uuid() -> UUID? {
        guard let field = unsafe next() else { return nil }
        guard let id = unsafe UUID(binary: field) else {
            isMalformed = true
            return nil
        }
        return id
    }

    /// An array of texts, some of which may be NULL.
    package mutating func texts() -> [String?]? {
        guard let field = unsafe next() else { return nil }
        guard let texts = unsafe PostgresArray.decode(String.self, from: field) else {
            isMalformed = true
            return nil
        }
        return texts
    }

    /// Appends a text or other bytes to a buffer, and returns how many these were; nil for NULL.
    package mutating func append(to buffer: inout [UInt8]) -> Int? {
        guard let field = unsafe next() else { return nil }
        unsafe buffer.append(contentsOf: field)
        return field.count
    }
}
