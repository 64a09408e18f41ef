internal import CCurl

/// The headers of one request, as libcurl's list.
@safe struct HeaderList: ~Copyable {
    // SAFETY: made here, freed in `deinit`. A caller that lends it to libcurl takes it back before that.
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ headers: [(name: String, value: String)]) throws(HTTPClientError) {
        unsafe first = nil
        // Disabled: with a server that answers before the body, it would cost a second of waiting.
        append("Expect:")
        for (name, value) in headers {
            guard (name + value).unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
                throw .invalidHeader(name)
            }
            append("\(name): \(value)")
        }
    }

    deinit { unsafe curl_slist_free_all(first) }

    private mutating func append(_ line: String) {
        guard let longer = unsafe curl_slist_append(first, line) else {
            preconditionFailure("out of memory for a header")
        }
        unsafe first = longer
    }
}

/// Collects one answer from libcurl, up to a limit.
final class AnswerCollector {
    private let limit: Int
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isOverflowing = false

    init(limit: Int) { self.limit = limit }

    /// Called by libcurl with a part of the body. Accepting fewer bytes than given ends the request.
    static let takeBody: bellwether_curl_receiver = { bytes, size, count, context in
        // SAFETY: the context is the collector that `HTTPConnection.perform` holds while libcurl runs; the bytes are
        // libcurl's and are copied here.
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let collector = unsafe Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue()
        return unsafe collector.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    /// Called by libcurl with one line of the head.
    static let takeHeader: bellwether_curl_receiver = { bytes, size, count, context in
        // SAFETY: as above.
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let collector = unsafe Unmanaged<AnswerCollector>.fromOpaque(context).takeUnretainedValue()
        return unsafe collector.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    private func take(body part: UnsafeRawBufferPointer) -> Int {
        guard body.count + part.count <= limit else {
            isOverflowing = true
            return 0
        }
        unsafe body.append(contentsOf: part)
        return part.count
    }

    private func take(header line: UnsafeRawBufferPointer) -> Int {
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // Other answers may precede the final one (100 Continue); the last one counts.
            headers = []
        } else if let colon = text.firstIndex(of: ":"), headers.count < 200 {
            let value = text[text.index(after: colon)...].split(whereSeparator: \.isWhitespace).joined(separator: " ")
            headers.append((text[..<colon].lowercased(), value))
        }
        return line.count
    }
}
