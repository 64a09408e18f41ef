/// An answer: status, header fields and the whole body.
package struct Response: Sendable {
    package let status: Int
    /// Without `Content-Length`, `Transfer-Encoding`, `Connection` and `Date`, which the server adds.
    package let headers: [(String, String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
        precondition((200...599).contains(status), "\(status) is not the status of a final HTTP answer")
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Whether a header field may be sent: a line break in a value would start a field that the client chose.
    static func isSendable(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && !ofTheServer.contains { name.isWord($0) }
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private static let ofTheServer = ["content-length", "transfer-encoding", "connection", "date"]
}
