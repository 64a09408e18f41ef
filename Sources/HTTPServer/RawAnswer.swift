internal import CMicroHTTPD
internal import Glibc

/// An answer as bytes, for the moments when libmicrohttpd cannot send it. The connection ends after it.
struct RawAnswer {
    let bytes: [UInt8]

    init(_ response: Response, withBody: Bool = true) {
        var head = "HTTP/1.1 \(response.status) \(RawAnswer.reason(of: response.status))\r\n"
        head += "Date: \(RawAnswer.date())\r\nConnection: close\r\nContent-Length: \(response.body.count)\r\n"
        for (name, value) in response.sendableHeaders { head += "\(name): \(value)\r\n" }
        head += "\r\n"
        bytes = Array(head.utf8) + (withBody ? response.body : [])
    }

    /// As much as the socket takes at once, and with it the end of what we say.
    func send(to descriptor: Int32) {
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(
                descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private static func reason(of status: Int) -> String {
        // SAFETY: libmicrohttpd gives a constant, or nothing.
        guard let reason = unsafe MHD_get_reason_phrase_for(UInt32(status)) else { return "Answer" }
        return unsafe String(cString: reason)
    }

    /// As RFC 9110, 5.6.7 wants it; not by strftime, which would write the names in the locale's language.
    private static func date() -> String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        let day = unsafe days[Int(parts.tm_wday)]
        let month = unsafe months[Int(parts.tm_mon)]
        let year = unsafe Int(parts.tm_year) + 1900
        let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return unsafe "\(day), \(twoDigits(parts.tm_mday)) \(month) \(year) \(clock) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
