internal import CZlib

/// One event as stored in a segment.
///
/// | bytes | what |
/// | --- | --- |
/// | 4 | `FF 42 57`, then the version |
/// | 4 | how many bytes come after the first twelve |
/// | 4 | CRC-32 of those bytes |
/// | 8 | seq |
/// | 8 | the queue's age clock when it was recorded, in milliseconds |
/// | 8 | the device's clock then, in milliseconds since 1970 |
/// | 4 | length of the source |
/// | | source and event, JSON both |
///
/// All numbers are little-endian. `FF` never occurs in UTF-8, so the next record can be found after damaged bytes. The
/// first five fields have the same meaning in every version, so a reader can skip a record of another version.
struct Record {
    static let mark: [UInt8] = [0xFF, 0x42, 0x57]
    static let version: UInt8 = 1
    /// Where the checked part begins.
    static let prefix = 12
    static let header = 40
    /// More than any server takes (32 KiB per event), and small enough to recognise a damaged length.
    static let longestBody = 128 << 10

    var seq: Int64
    /// In milliseconds of the queue's age clock.
    var age: Int64
    /// In milliseconds since 1970.
    var time: Int64
    var source: ArraySlice<UInt8>
    var event: ArraySlice<UInt8>

    /// Its bytes on disk.
    var bytes: [UInt8] {
        var bytes = Record.mark + [Record.version]
        bytes.reserveCapacity(Record.header + source.count + event.count)
        bytes.append(little: UInt32(Record.header - Record.prefix + source.count + event.count))
        bytes.append(little: UInt32(0))
        bytes.append(little: seq)
        bytes.append(little: age)
        bytes.append(little: time)
        bytes.append(little: UInt32(source.count))
        bytes += source
        bytes += event
        let sum = Checksum.of(bytes[Record.prefix...])
        for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(little value: some FixedWidthInteger) {
        for index in 0..<(value.bitWidth / 8) { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    /// The little-endian number at a position.
    func little<Number: FixedWidthInteger>(at start: Int, as _: Number.Type = Number.self) -> Number {
        var value: Number = 0
        for index in 0..<(Number.bitWidth / 8) {
            value |= Number(truncatingIfNeeded: self[start + index]) << (8 * index)
        }
        return value
    }
}

/// The CRC-32 of gzip.
enum Checksum {
    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let sum = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe crc32(0, buffer.baseAddress, uInt(buffer.count))
        }
        return UInt32(truncatingIfNeeded: sum)
    }
}
