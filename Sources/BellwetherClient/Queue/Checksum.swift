internal import CZlib

/// CRC-32, as gzip has it.
enum Checksum {
    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let sum = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe crc32(0, buffer.baseAddress, uInt(buffer.count))
        }
        return UInt32(truncatingIfNeeded: sum)
    }
}
