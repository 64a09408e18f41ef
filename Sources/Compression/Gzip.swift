internal import CZlib

/// Packs bytes as one gzip member (RFC 1952), quickly rather than as small as can be.
package func gzip(_ bytes: [UInt8]) -> [UInt8] {
    precondition(bytes.count <= Int32.max, "zlib counts in 32 bits")
    // SAFETY: made and freed here. zlib remembers the address of its stream, so it must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    defer { unsafe stream.deallocate() }
    // 15 bits of window; 16 more write gzip. Level 1: envelopes shrink to a tenth with it already.
    let status = unsafe deflateInit2_(
        stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib could not start: status \(status)")
    defer { unsafe deflateEnd(stream) }
    let bound = Int(unsafe deflateBound(stream, UInt(bytes.count)))
    // SAFETY: zlib reads `bytes` and writes `packed` inside `deflate` only, while both are lent; with room for the
    // bound one call packs everything.
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
