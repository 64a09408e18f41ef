internal import Compression

/// The body of a request as it came.
struct PackedBody: Sendable {
    /// How it is packed.
    enum Coding: Sendable { case identity, gzip }

    /// Why it cannot be had.
    enum Fault: Error {
        case tooLarge
        case notUnpackable(String)
        /// The app's allowance was used up on the way; for so many seconds.
        case rateLimited(Double)
    }

    let wire: [UInt8]
    let coding: Coding
    /// Bytes that it may have unpacked.
    let limit: Int

    /// The body itself, if it has no more bytes than that. What it turns out to be is paid for as it turns out.
    func unpacked(upTo most: Int, _ toll: Toll?) throws(Fault) -> [UInt8] {
        guard coding == .gzip else {
            guard wire.count <= most else { throw .tooLarge }
            return wire
        }
        var wait: Double?
        do throws(GunzipError) {
            return try gunzip(wire, limit: most) { unpacked in
                toll?.raise(to: RateLimiter.tokens(forBytes: unpacked))
                wait = toll?.wait
                return wait == nil
            }
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge
            case .stopped: throw .rateLimited(wait ?? 1)
            case .corrupt, .truncated: throw .notUnpackable("\(error)")
            }
        }
    }

    var tooLarge: Problem { Problem(.unpackedTooLarge, "At most \(limit) bytes. Send less at a time.") }
}

extension PackedBody.Coding {
    /// From the field `Content-Encoding`; nil for a coding that we do not know.
    init?(_ field: String?) {
        guard let field else {
            self = .identity
            return
        }
        switch field[...].trimmed.lowercased() {
        case "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: return nil
        }
    }
}

extension Substring {
    /// Without the blanks that HTTP allows around a field's value. Byte by byte: as characters of a generic string this took a
    /// third of what a small request costs.
    var trimmed: Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = utf8
        var (start, end) = (startIndex, endIndex)
        while start < end, isBlank(bytes[start]) { start = bytes.index(after: start) }
        while start < end, isBlank(bytes[bytes.index(before: end)]) { end = bytes.index(before: end) }
        return self[start..<end]
    }
}
