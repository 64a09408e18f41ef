/// Where a request's body ends, as its header fields say.
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked

    /// Throws when there are two answers to that question, or one that only some readers understand: whoever reads it
    /// differently from the proxy before us takes the rest of one request for the next (request smuggling).
    init(fields: HeaderFields, version: HTTPVersion) throws(RequestFault) {
        let lengths = fields.values(of: "content-length")
        let encodings = fields.values(of: "transfer-encoding")
        switch (lengths.count, encodings.count) {
        case (0, 0):
            self = .none
        case (1, 0):
            // Digits alone, and no more than an Int holds: Int would read a sign, which no length has.
            guard (1...18).contains(lengths[0].utf8.count),
                lengths[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let length = Int(lengths[0])
            else { throw .ambiguousFraming }
            self = .length(length)
        case (0, 1):
            guard encodings[0].isWord("chunked"), version == .http11 else { throw .ambiguousFraming }
            self = .chunked
        default:
            throw .ambiguousFraming
        }
    }
}
