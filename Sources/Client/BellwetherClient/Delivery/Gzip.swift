internal import CZlib
internal import Foundation

/// Packs bytes as gzip (RFC 1952).
enum Gzip {
    /// zlib failed: no memory.
    struct Failure: Error, CustomStringConvertible {
        let status: Int32
        var description: String { "zlib could not pack an envelope (status \(status)); it is tried again later" }
    }

    static func pack(_ bytes: [UInt8]) throws -> [UInt8] {
        // SAFETY: the stream keeps its address from init to end, because zlib stores that address.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        defer { unsafe stream.deallocate() }
        // 15 bits of window; adding 16 selects gzip.
        let begun = unsafe deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard begun == Z_OK else { throw Failure(status: begun) }
        defer { unsafe deflateEnd(stream) }
        let bound = unsafe Int(deflateBound(stream, uLong(bytes.count)))
        var packed: [UInt8] = []
        try unsafe bytes.withUnsafeBufferPointer { source in
            packed = try unsafe [UInt8](unsafeUninitializedCapacity: bound) { target, count in
                // SAFETY: zlib only reads from `next_in`; both buffers outlive the call.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = uInt(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = uInt(bound)
                let status = unsafe deflate(stream, Z_FINISH)
                guard status == Z_STREAM_END else { throw Failure(status: status) }
                count = unsafe bound - Int(stream.pointee.avail_out)
            }
        }
        return packed
    }
}
