/// The bytes of a COPY in the making. Numbers are stored where they belong: appending each to an array as a sequence of
/// bytes cost as much as all the rest of a row.
struct CopyBytes: Sendable {
    /// Longer than what is said so far, mostly.
    private var storage: [UInt8]
    private(set) var count = 0

    init(capacity: Int) {
        storage = [UInt8](repeating: 0, count: max(capacity, 64))
    }

    /// Keeps the memory.
    mutating func removeAll(after count: Int) { self.count = min(self.count, count) }

    mutating func append(bigEndian number: Int16) { store(number.bigEndian, 2) }
    mutating func append(bigEndian number: Int32) { store(number.bigEndian, 4) }
    mutating func append(bigEndian number: Int64) { store(number.bigEndian, 8) }
    mutating func append(_ byte: UInt8) { store(byte, 1) }

    /// A field: its length, and its bytes.
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

    private mutating func append(field bytes: UnsafeRawBufferPointer) {
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

    /// What is said so far.
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
