/// Where a request's body ends, as its header fields say.
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked

    /// Nil when there are two answers to that question, or one that only some readers understand: whoever reads it
    /// differently from the proxy before us takes the rest of one request for the next (request smuggling).
    /// libmicrohttpd accepts most of these, even in its strict mode.
    init?(fields: HeaderFields, version: String) {
        let lengths = fields.values(of: "content-length")
        let encodings = fields.values(of: "transfer-encoding")
        guard !fields.hasFolds, fields.namesAreTokens else { return nil }
        switch (lengths.count, encodings.count) {
        case (0, 0):
            self = .none
        case (1, 0):
            // Int reads a sign, which no length has.
            guard lengths[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let length = Int(lengths[0])
            else { return nil }
            self = .length(length)
        case (0, 1):
            guard encodings[0].lowercased() == "chunked", version == "HTTP/1.1" else { return nil }
            self = .chunked
        default:
            return nil
        }
    }
}
