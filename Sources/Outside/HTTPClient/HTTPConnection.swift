internal import BellwetherVersion
internal import CCurl

/// A blocking client that keeps one connection open for further requests to the same server.
///
/// For one thread at a time: use a `Worker`, not the cooperative pool. It speaks http and https, trusts the
/// certificates that the system trusts, and never follows redirects: a redirect is an answer like any other.
@safe package final class HTTPConnection {
    /// Time and size limits.
    package struct Limits: Sendable {
        /// Seconds until a connection must be established.
        package var connecting = 10.0
        /// Seconds for a whole request, including connecting.
        package var request = 60.0
        /// The maximum size of an answer's body in bytes.
        package var answer = 4 << 20

        package init() {}
    }

    // SAFETY: made in `init`, cleaned up in `deinit`, only passed to libcurl. This class is not `Sendable`, so only one
    // thread at a time uses it, as libcurl requires.
    private let handle: UnsafeMutableRawPointer
    private let limits: Limits

    /// libcurl must be initialised once per process, before any handle is made.
    private static let isPrepared: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// `usesProxy` enables the proxies in the environment (`http_proxy`, `https_proxy`, `no_proxy`).
    package init(limits: Limits = Limits(), usesProxy: Bool = true) {
        guard HTTPConnection.isPrepared, let handle = unsafe curl_easy_init() else {
            preconditionFailure("libcurl could not create a handle: out of memory")
        }
        unsafe self.handle = handle
        self.limits = limits
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_POST, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_USERAGENT, "bellwether/\(BellwetherVersion.number)")
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connecting * 1000))
        set(CURLOPT_TIMEOUT_MS, Int(limits.request * 1000))
        if !usesProxy { set(CURLOPT_PROXY, "") }
        unsafe bellwether_curl_set_receiver(handle, CURLOPT_WRITEFUNCTION, AnswerCollector.takeBody)
        unsafe bellwether_curl_set_receiver(handle, CURLOPT_HEADERFUNCTION, AnswerCollector.takeHeader)
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Sends the request and waits for the whole answer, whatever its status.
    package func send(_ request: HTTPRequest) throws(HTTPClientError) -> HTTPResponse {
        let headers = try HeaderList(request.headers)
        let collector = AnswerCollector(limit: limits.answer)
        set(CURLOPT_URL, request.url)
        // Nil restores the default, POST.
        set(CURLOPT_CUSTOMREQUEST, request.method == .post ? nil : request.method.rawValue)
        set(CURLOPT_UNIX_SOCKET_PATH, request.unixSocket)
        unsafe bellwether_curl_set_list(handle, CURLOPT_HTTPHEADER, headers.first)
        unsafe bellwether_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
        let code = perform(request.body, collector)
        unsafe bellwether_curl_set_list(handle, CURLOPT_HTTPHEADER, nil)
        guard code == CURLE_OK else { throw error(code, request, collector) }
        var status = 0
        unsafe bellwether_curl_get_number(handle, CURLINFO_RESPONSE_CODE, &status)
        return HTTPResponse(status: status, headers: collector.headers, body: collector.body)
    }

    private func perform(_ body: [UInt8], _ collector: AnswerCollector) -> CURLcode {
        // SAFETY: libcurl reads the body and calls the collector only inside `curl_easy_perform`, while both are alive
        // here. The pointers are removed before that ends.
        unsafe body.withUnsafeBytes { bytes in
            let context = unsafe Unmanaged.passUnretained(collector).toOpaque()
            // Without a pointer, libcurl would ask for the body by a callback, and an empty array may have no pointer.
            unsafe bellwether_curl_set_pointer(
                handle, CURLOPT_POSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(handle))
            unsafe bellwether_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
            unsafe bellwether_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
            defer {
                unsafe bellwether_curl_set_pointer(handle, CURLOPT_POSTFIELDS, nil)
                unsafe bellwether_curl_set_pointer(handle, CURLOPT_WRITEDATA, nil)
                unsafe bellwether_curl_set_pointer(handle, CURLOPT_HEADERDATA, nil)
            }
            return withExtendedLifetime(collector) { unsafe curl_easy_perform(handle) }
        }
    }

    private func error(_ code: CURLcode, _ request: HTTPRequest, _ collector: AnswerCollector) -> HTTPClientError {
        let place = request.unixSocket ?? request.url
        return switch code {
        // libcurl says so, too, of an answer without a status line.
        case CURLE_UNSUPPORTED_PROTOCOL where request.url.lowercased().hasPrefix("http"): .noHTTP(place)
        case CURLE_WEIRD_SERVER_REPLY: .noHTTP(place)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidURL(request.url)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .unknownHost(place)
        case CURLE_COULDNT_CONNECT: .noConnection(place)
        case CURLE_OPERATION_TIMEDOUT: .timedOut(place)
        case CURLE_WRITE_ERROR where collector.isOverflowing: .answerTooLarge(limit: limits.answer)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .broken(place)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            .untrusted(words(for: code))
        default: .other(words(for: code))
        }
    }

    private func words(for code: CURLcode) -> String {
        unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
    }

    private func set(_ option: CURLoption, _ value: Int) { unsafe bellwether_curl_set_number(handle, option, value) }

    /// libcurl keeps a copy.
    private func set(_ option: CURLoption, _ value: String?) {
        unsafe bellwether_curl_set_text(handle, option, value)
    }
}
