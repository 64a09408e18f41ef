/// Where a row is in its table: PostgreSQL's `ctid`. It holds while the transaction that read it has locked the row
/// against others.
package struct RowPlace: PostgresValue, Hashable {
    private let block: UInt32
    private let line: UInt16

    package static var oid: UInt32 { 27 }
    package static var arrayOID: UInt32 { 1010 }

    package func encode(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: block)
        bytes.append(bigEndian: line)
    }

    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 6 else { return nil }
        block = unsafe UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        line = unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    }
}
