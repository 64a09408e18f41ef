internal import Compression

/// The body of a request as received.
struct PackedBody: Sendable {
    /// How it is packed.
    enum Coding: Sendable { case identity, gzip }

    /// Why it cannot be unpacked.
    enum Fault: Error {
        case tooLarge
        case notUnpackable(String)
        /// Unpacking used up the app's allowance, for that many seconds.
        case rateLimited(Double)
    }

    let wire: [UInt8]
    let coding: Coding
    /// The most bytes that it may unpack to.
    let limit: Int

    /// The unpacked body, if it has at most that many bytes. The toll is paid while it is unpacked.
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
    /// Reads the field `Content-Encoding`; nil for an unknown coding.
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
    /// Without the spaces that HTTP allows around a field's value. Byte by byte: with the characters of a generic
    /// string this took a third of the time of a small request.
    var trimmed: Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let bytes = utf8
        var (start, end) = (startIndex, endIndex)
        while start < end, isBlank(bytes[start]) { start = bytes.index(after: start) }
        while start < end, isBlank(bytes[bytes.index(before: end)]) { end = bytes.index(before: end) }
        return self[start..<end]
    }
}
