internal import HTTPClient

/// Where a server's `/v1/events` is.
package struct ServerAddress: Sendable {
    let url: String
    let unixSocket: String?

    /// On this machine, where no proxy leads, whatever the environment names.
    var isHere: Bool {
        guard unixSocket == nil else { return true }
        return ["localhost", "127.0.0.1", "[::1]"].contains { host in
            url.hasPrefix("http://\(host):") || url.hasPrefix("http://\(host)/")
        }
    }

    /// A URL of the server, with or without the path; or `unix:` and the path of a socket.
    package init(_ text: String) {
        let path = "/v1/events"
        guard !text.hasPrefix("unix:") else {
            (url, unixSocket) = ("http://localhost" + path, String(text.dropFirst(5)))
            return
        }
        var base = Substring(text)
        while base.hasSuffix("/") { base.removeLast() }
        url = base.hasSuffix(path) ? String(base) : base + path
        unixSocket = nil
    }
}
