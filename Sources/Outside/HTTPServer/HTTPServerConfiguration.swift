/// Where to listen, and all limits. Times are in seconds, sizes in bytes.
package struct HTTPServerConfiguration: Sendable {
    package enum Address: Hashable, Sendable, CustomStringConvertible {
        /// A name (all its addresses), an IPv4 or an IPv6 address; `::` accepts IPv4, too. Port 0 means any free port.
        case tcp(host: String, port: UInt16)
        case unix(path: String)

        package var description: String {
            switch self {
            case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): path
            }
        }
    }

    /// Paths of PEM files. The certificate's file also contains its chain.
    package struct TLS: Hashable, Sendable {
        package var certificate: String
        package var privateKey: String

        package init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    package var listen: Address
    /// Sockets that listen at this address already, opened by the process that started this one; nil opens them.
    package var inherited: [Int32]?
    package var tls: TLS?
    /// Permissions of a Unix socket's path.
    package var unixSocketMode: UInt32 = 0o660
    /// For one connection more, the server closes the one that has been idle longest, or gives up the body that has
    /// been arriving longest and tells its client to try again. If all connections wait for answers, the new one gets a
    /// 503 at once.
    package var connectionLimit = 5000
    package var connectionsPerAddress: Int?
    /// The size of the request line and all header fields together.
    package var headerLimit = 16 << 10
    /// The memory of all connections together: unanswered requests and unread answers.
    package var memoryLimit = 256 << 20

    /// From the last answer, or from connecting, to the end of the next request line.
    package var idleTimeout = 75.0
    /// From the request line to the last byte of the body. Keep it well under five minutes: otherwise a slow upload
    /// looks like a wrong clock.
    package var requestDeadline = 60.0
    /// The longest pause between two pieces of a body.
    package var bodyStallTimeout = 15.0
    /// The time for the handler to decide, each time it is asked.
    package var parkDeadline = 15.0
    /// The time for the client to read the answer.
    package var sendDeadline = 30.0
    /// How much of an unwanted body is read and dropped, and for how long, so that the client reads the answer.
    package var discardLimit = 16 << 20
    package var discardTime = 10.0
    /// After so long without a request, a client that has shown no key goes before those who ask without a pause again.
    package var visitorRest = 1.0
    /// How long a connection that we close may continue to send, so that the last answer is not lost.
    package var lingerTime = 2.0

    package init(listen: Address, tls: TLS? = nil) {
        self.listen = listen
        self.tls = tls
    }
}
