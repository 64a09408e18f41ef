package import HTTPServer
internal import Reports
package import ServiceRuntime
internal import Values

/// The web pages: a listener, the threads that read for it, and what it keeps.
package final class Look: Sendable {
    package struct Configuration: Sendable {
        /// A URL for sessions that read as analysts do.
        package var analystURL: String
        package var server: HTTPServerConfiguration
        package var readers = Readers.Configuration()
        /// Names, beside those of this machine, by which a proxy may ask for pages.
        package var hosts: [String] = []

        package init(analystURL: String, server: HTTPServerConfiguration) {
            (self.analystURL, self.server) = (analystURL, server)
        }
    }

    private let server: HTTPServer
    private let readers: Readers
    private let log: Log

    package init(_ configuration: Configuration, log: Log) throws {
        readers = Readers(url: configuration.analystURL, configuration.readers, log: log)
        self.log = log
        let router = LookRouter(
            readers: readers, hosts: HostCheck(configuration.server.listen, names: configuration.hosts), log: log)
        var limits = configuration.server
        limits.connectionLimit = 256
        limits.connectionsPerAddress = nil
        limits.memoryLimit = 32 << 20
        limits.discardLimit = 64 << 10
        server = try HTTPServer(
            configuration: limits, handler: router, log: log,
            errorResponse: { fault in LookRouter.response(to: fault) })
    }

    /// Where it listens.
    package var address: HTTPServerConfiguration.Address { server.address }

    package func start() {
        readers.start()
        server.start()
    }

    /// Answers the requests in progress, and ends.
    package func stop(deadline: Deadline) {
        server.stop(deadline: deadline)
        readers.stop()
    }

    package func readCertificateAnew() throws(HTTPServerError) -> Bool { try server.readCertificateAnew() }
}
