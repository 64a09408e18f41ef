internal import Glibc

/// An answer as bytes for the network.
struct AnswerBytes {
    enum Persistence {
        /// Sends no `Connection` field: HTTP/1.1's default applies.
        case silent
        /// A client of HTTP/1.0 asked for it.
        case keepAlive
        case close
    }

    /// Includes the body if it is short.
    private(set) var head: [UInt8]
    /// The part of the body that is not in `head`. It shares memory with the response.
    let body: ArraySlice<UInt8>

    /// A body longer than this is not copied.
    private static let shortBody = 16 << 10

    init(_ response: Response, date: String, persistence: Persistence, withBody: Bool) {
        let body = withBody ? response.body[...] : []
        var head: [UInt8] = []
        head.reserveCapacity(256 + (body.count <= AnswerBytes.shortBody ? body.count : 0))
        func write(_ text: String) { head.append(contentsOf: text.utf8) }
        write(response.status == 200 ? "HTTP/1.1 200 OK\r\nDate: " : AnswerBytes.statusLine(response.status) + "Date: ")
        write(date)
        switch persistence {
        case .silent: break
        case .keepAlive: write("\r\nConnection: keep-alive")
        case .close: write("\r\nConnection: close")
        }
        // Responses with these statuses have no body (RFC 9110, 8.6).
        if response.status != 204, response.status != 304 {
            write("\r\nContent-Length: ")
            write(String(response.body.count))
        }
        for (name, value) in response.headers where Response.isSendable(name, value) {
            write("\r\n")
            write(name)
            write(": ")
            write(value)
        }
        write("\r\n\r\n")
        if body.count <= AnswerBytes.shortBody {
            head += body
            self.body = []
        } else {
            self.body = body
        }
        self.head = head
    }

    private static func statusLine(_ status: Int) -> String {
        "HTTP/1.1 \(status) \(reasons[status] ?? "Answer")\r\n"
    }

    /// The reason phrases of the statuses that we send, for people who read the traffic.
    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 303: "See Other", 304: "Not Modified",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 409: "Conflict", 411: "Length Required", 413: "Content Too Large",
        415: "Unsupported Media Type", 421: "Misdirected Request", 422: "Unprocessable Content",
        429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error", 503: "Service Unavailable",
    ]
}

/// The time in the format of RFC 9110, 5.6.7, formatted once a second. Not by strftime, which would use the locale's
/// names of days and months.
struct HTTPDate {
    private var second: time_t = -1
    private(set) var text = ""

    mutating func refresh() {
        var now = time(nil)
        guard now != second else { return }
        second = now
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        let day = unsafe HTTPDate.days[Int(parts.tm_wday)]
        let month = unsafe HTTPDate.months[Int(parts.tm_mon)]
        let year = unsafe Int(parts.tm_year) + 1900
        let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(HTTPDate.twoDigits).joined(separator: ":")
        text = unsafe "\(day), \(HTTPDate.twoDigits(parts.tm_mday)) \(month) \(year) \(clock) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
