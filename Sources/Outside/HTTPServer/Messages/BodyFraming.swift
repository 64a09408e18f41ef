/// How to find the end of a request's body, according to its header fields.
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked

    /// Throws if the fields contradict each other, or if only some readers would understand them. If we and the proxy
    /// before us disagree, one of us takes the rest of one request for the next one (request smuggling).
    init(fields: HeaderFields, version: HTTPVersion) throws(RequestFault) {
        var (lengths, encodings, isChunked) = (0, 0, false)
        var length: Int?
        fields.each("content-length") { value in
            lengths += 1
            length = BodyFraming.length(value)
        }
        fields.each("transfer-encoding") { value in
            encodings += 1
            isChunked = HeaderFields.isWord(value, "chunked")
        }
        switch (lengths, encodings) {
        case (0, 0):
            self = .none
        case (1, 0):
            guard let length else { throw .ambiguousFraming }
            self = .length(length)
        case (0, 1):
            guard isChunked, version == .http11 else { throw .ambiguousFraming }
            self = .chunked
        default:
            throw .ambiguousFraming
        }
    }

    /// Digits alone, no sign, and no more than an Int holds.
    private static func length(_ digits: Span<UInt8>) -> Int? {
        guard (1...18).contains(digits.count) else { return nil }
        var length = 0
        for index in digits.indices {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digits[index]) else { return nil }
            length = length * 10 + Int(digits[index] - UInt8(ascii: "0"))
        }
        return length
    }
}
