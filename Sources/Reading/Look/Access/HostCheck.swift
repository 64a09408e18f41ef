internal import HTTPServer

/// Whether a request names this machine. A page that anybody on the machine may open must not be read by a web site
/// that gives its own name this machine's address (DNS rebinding): its requests name that site.
struct HostCheck: Sendable {
    private let names: Set<String>
    /// Any other address is behind a key, and a cookie of another name is none.
    private let isNeeded: Bool

    static let refusal =
        "These pages are open to this machine only, and the request names another one. Use http://127.0.0.1 or "
        + "http://localhost; for a proxy, give its name with --host."

    init(_ address: HTTPServerConfiguration.Address, names: [String]) {
        isNeeded = address.isLoopback
        self.names = Set(["localhost", "127.0.0.1", "[::1]"] + names.map { $0.lowercased() })
    }

    func accepts(_ host: String?) -> Bool {
        guard isNeeded else { return true }
        guard let host = host?.lowercased() else { return false }
        guard !host.hasSuffix("]"), let end = host.lastIndex(of: ":") else { return names.contains(host) }
        return names.contains(String(host[..<end])) && UInt16(host[host.index(after: end)...]) != nil
    }
}

extension HTTPServerConfiguration.Address {
    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _):
            host == "localhost" || host == "::1" || host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
        }
    }
}
