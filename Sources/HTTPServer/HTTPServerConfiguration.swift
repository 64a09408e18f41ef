/// Where to listen and how much of anything to allow. Times are in seconds, sizes in bytes.
package struct HTTPServerConfiguration: Sendable {
    package enum Address: Hashable, Sendable, CustomStringConvertible {
        /// A name (every address it has), an IPv4 or an IPv6 address; `::` takes IPv4 too. Port 0 takes any free one.
        case tcp(host: String, port: UInt16)
        case unix(path: String)

        package var description: String {
            switch self {
            case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): path
            }
        }
    }

    /// Paths of PEM files; the certificate's file holds its chain too.
    package struct TLS: Hashable, Sendable {
        package var certificate: String
        package var privateKey: String

        package init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    package var listen: Address
    package var tls: TLS?
    /// Permissions of a Unix socket's path.
    package var unixSocketMode: UInt32 = 0o660
    /// For one more, that which has been idle for longest is closed, or whose body has been arriving for longest is told to
    /// come again; where all wait for their answers, it gets a 503 at once.
    package var connectionLimit = 5000
    package var connectionsPerAddress: Int?
    /// Of the request line and all header fields together.
    package var headerLimit = 16 << 10
    /// Of all connections together, with what they have sent, until it is answered, and what they have not yet taken.
    package var memoryLimit = 256 << 20

    /// From the last answer, or from connecting, until the next request line is complete.
    package var idleTimeout = 75.0
    /// From the request line to the last byte of the body. Well under five minutes, or a slow upload would look like a
    /// wrong clock.
    package var requestDeadline = 60.0
    /// Between two pieces of a body.
    package var bodyStallTimeout = 15.0
    /// For the handler to decide, each time it is asked.
    package var parkDeadline = 15.0
    /// For the client to take the answer.
    package var sendDeadline = 30.0
    /// Of a body that nobody wants: so much, and so long, is read and dropped so that its answer is read.
    package var discardLimit = 16 << 20
    package var discardTime = 10.0
    /// How long a connection that we close may go on sending, so that the last answer is not lost on its way.
    package var lingerTime = 2.0

    package init(listen: Address, tls: TLS? = nil) {
        self.listen = listen
        self.tls = tls
    }
}
