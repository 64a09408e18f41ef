internal import CZlib

/// Compresses bytes as one gzip member (RFC 1952). It prefers speed over size.
package func gzip(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count <= Int32.max, "zlib counts in 32 bits")
    // SAFETY: made and freed here. zlib stores the address of its stream, so the stream must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    defer { unsafe stream.deallocate() }
    // 15 bits of window; adding 16 selects gzip. Level 1 already shrinks envelopes to a tenth.
    let status = unsafe deflateInit2_(
        stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib could not start: status \(status)")
    defer { unsafe deflateEnd(stream) }
    let bound = Int(unsafe deflateBound(stream, UInt(bytes.count)))
    // SAFETY: zlib reads `bytes` and writes `packed` only inside `deflate`, while both are valid. `packed` has room for
    // the maximum size, so one call compresses everything.
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe [UInt8](unsafeUninitializedCapacity: bound) { packed, count in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(bytes.count)
            unsafe stream.pointee.next_out = packed.baseAddress
            unsafe stream.pointee.avail_out = UInt32(bound)
            let status = unsafe deflate(stream, Z_FINISH)
            precondition(status == Z_STREAM_END, "zlib did not finish: status \(status)")
            count = unsafe bound - Int(stream.pointee.avail_out)
        }
    }
}

/// Why bytes could not be decompressed.
package enum GunzipError: Error, Hashable, Sendable, CustomStringConvertible {
    /// They decompress to more than the limit.
    case tooLarge(limit: Int)
    /// They are not gzip, their content does not match its checksum, or other bytes follow.
    case corrupt
    /// They end too early.
    case truncated
    /// The caller stopped it.
    case stopped

    package var description: String {
        switch self {
        case .tooLarge(let limit): "the body unpacks to more than \(limit) bytes; send it in smaller parts"
        case .corrupt: "the body is not valid gzip; compress it again"
        case .truncated: "the gzip body ends too early; send all of it"
        case .stopped: "unpacking was cancelled"
        }
    }
}

/// Decompresses gzip (RFC 1952) of one or more members, up to `limit` bytes.
///
/// Even for a zip bomb, it uses no more memory than `limit` bytes and one chunk. After each chunk of 64 KiB, it calls
/// `goesOn` with the number of bytes so far.
/// each chunk of 64 KiB, with the bytes there are by then.
package func gunzip(
    _ packed: Span<UInt8>, limit: Int, while goesOn: (Int) -> Bool = { _ in true }
) throws(GunzipError) -> [UInt8] {
    guard packed.count > 0 else { throw .truncated }
    let result = unsafe packed.withUnsafeBufferPointer { packed in
        var inflation = unsafe Inflation(packed, limit: limit)
        return Result { () throws(GunzipError) in try inflation.run(while: goesOn) }
    }
    return try result.get()
}

/// Decompresses gzip (RFC 1952) of one or more members, up to `limit` bytes.
package func gunzip(
    _ packed: [UInt8], limit: Int, while goesOn: (Int) -> Bool = { _ in true }
) throws(GunzipError) -> [UInt8] {
    try gunzip(packed.span, limit: limit, while: goesOn)
}

@safe private struct Inflation: ~Copyable {
    // SAFETY: made in `init`, freed in `deinit`. zlib stores the address of its stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let limit: Int
    private var unpacked: [UInt8] = []

    private static let chunk = 64 * 1024

    // SAFETY: the caller keeps `packed` alive for as long as this lives. zlib only reads from `next_in`.
    init(_ packed: UnsafeBufferPointer<UInt8>, limit: Int) {
        self.limit = limit
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: packed.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(clamping: packed.count)
        // 15 bits of window; adding 16 accepts gzip and nothing else.
        let status = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib could not start: status \(status)")
        unpacked.reserveCapacity(min(limit, packed.count * 4))
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    mutating func run(while goesOn: (Int) -> Bool) throws(GunzipError) -> [UInt8] {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Inflation.chunk)
        defer { unsafe buffer.deallocate() }
        while true {
            unsafe stream.pointee.next_out = buffer.baseAddress
            unsafe stream.pointee.avail_out = UInt32(Inflation.chunk)
            let status = unsafe inflate(stream, Z_NO_FLUSH)
            let written = unsafe Inflation.chunk - Int(stream.pointee.avail_out)
            guard unpacked.count + written <= limit else { throw .tooLarge(limit: limit) }
            unsafe unpacked.append(contentsOf: buffer[..<written])
            guard goesOn(unpacked.count) else { throw .stopped }
            switch status {
            case Z_OK: continue
            case Z_STREAM_END:
                if unsafe stream.pointee.avail_in == 0 { return unpacked }
                guard unsafe inflateReset(stream) == Z_OK else { throw .corrupt }
            case Z_BUF_ERROR: throw .truncated
            case Z_MEM_ERROR: preconditionFailure("out of memory while unpacking")
            default: throw .corrupt
            }
        }
    }
}
