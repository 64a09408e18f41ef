internal import CCurl

/// The headers of one request in libcurl's own list.
@safe struct HeaderList: ~Copyable {
    // SAFETY: made here, freed in `deinit`; who lends it to libcurl takes it back before that.
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ headers: [(name: String, value: String)]) throws(HTTPClientError) {
        unsafe first = nil
        // Not asked for: a server that answers before the body would cost a second of waiting.
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
