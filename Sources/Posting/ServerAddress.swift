internal import HTTPClient

/// Where a server is.
package struct ServerAddress: Sendable {
    private let base: String
    let unixSocket: String?

    /// Of something that it offers, such as `/v1/events`.
    func url(of path: String) -> String { base + path }

    /// On this machine, where no proxy leads, whatever the environment names.
    var isHere: Bool {
        guard unixSocket == nil else { return true }
        return ["localhost", "127.0.0.1", "[::1]"].contains { host in
            base == "http://\(host)" || base.hasPrefix("http://\(host):") || base.hasPrefix("http://\(host)/")
        }
    }

    /// A URL of the server, with or without the path; or `unix:` and the path of a socket.
    package init(_ text: String) {
        let path = "/v1/events"
        guard !text.hasPrefix("unix:") else {
            (base, unixSocket) = ("http://localhost", String(text.dropFirst(5)))
            return
        }
        var base = Substring(text)
        while base.hasSuffix("/") { base.removeLast() }
        self.base = String(base.hasSuffix(path) ? base.dropLast(path.count) : base)
        unixSocket = nil
    }
}
