package import HTTPServer
internal import Postgres
package import ServiceRuntime

/// The web pages: a listener, the threads that read for it, and what it keeps.
package final class Look: Sendable {
    package struct Configuration: Sendable {
        /// A URL for sessions that read as analysts do, and one for a login that may also read the reader keys.
        package var analystURL: String
        package var keysURL: String
        package var server: HTTPServerConfiguration
        package var readers = Readers.Configuration()
        /// Seconds that a browser waits for a page before it is shown what for.
        package var patience = 0.5
        /// Names, beside those of this machine, by which a proxy may ask for pages.
        package var hosts: [String] = []

        package init(analystURL: String, keysURL: String, server: HTTPServerConfiguration) {
            (self.analystURL, self.keysURL, self.server) = (analystURL, keysURL, server)
        }
    }

    /// Why the pages are not served, for the person who started them.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    private let server: HTTPServer
    private let readers: Readers
    private let pages: PagesInProgress
    private let feed: LiveFeed
    private let directory: ReaderDirectory
    private let log: Log

    /// `waitsForDatabase` is for a service that starts although the database is away: then nobody sees a page before
    /// the keys could be read.
    package init(_ configuration: Configuration, waitsForDatabase: Bool = false, log: Log) throws {
        self.log = log
        let address = configuration.server.listen
        let isLocal = address.isLoopback
        try Self.check(keysURL: configuration.keysURL, at: address, waitsForDatabase: waitsForDatabase, log)
        readers = Readers(url: configuration.analystURL, configuration.readers, log: log)
        pages = PagesInProgress(
            patience: configuration.patience, mostSeconds: configuration.readers.secondsPerPage, log: log)
        feed = LiveFeed(url: configuration.analystURL, log: log)
        directory = ReaderDirectory(url: configuration.keysURL, isLocal: isLocal, log: log)
        let hasTLS = configuration.server.tls != nil
        let router = LookRouter(
            readers: readers, pages: pages, feed: feed, directory: directory,
            hosts: HostCheck(address, names: configuration.hosts), hasTLS: hasTLS, log: log)
        var limits = configuration.server
        limits.connectionLimit = 256
        limits.connectionsPerAddress = nil
        limits.memoryLimit = 32 << 20
        limits.discardLimit = 64 << 10
        server = try HTTPServer(
            configuration: limits, handler: router, log: log,
            errorResponse: { fault in LookRouter.response(to: fault) })
        if !isLocal, !hasTLS {
            log.warning(
                "look: other machines reach these pages and there is no TLS: keys and figures travel readable. Give "
                    + "--tls-certificate and --tls-key, or put a proxy with TLS before them")
        }
    }

    /// Throws if pages could not be served at this address.
    package static func check(
        keysURL: String, at address: HTTPServerConfiguration.Address, waitsForDatabase waits: Bool, _ log: Log
    ) throws {
        do {
            let keys = try ReaderDirectory.read(keysURL, log: log)
            guard address.isLoopback || !keys.isEmpty else {
                throw Refusal(
                    description:
                        "other machines could reach \(address), and there is no reader key: make one "
                        + "first (bellwether look key add NAME), or listen on 127.0.0.1")
            }
        } catch let error as PostgresError {
            switch error.state {
            case .insufficientPrivilege?, SQLState("22023")?:
                throw Refusal(
                    description: "this login may not read the reader keys. As the owner of the database, run: GRANT "
                        + "bellwether_look TO the login")
            case _ where waits: return
            default: throw error
            }
        }
    }

    /// Where it listens.
    package var address: HTTPServerConfiguration.Address { server.address }

    package func start() {
        directory.start()
        readers.start()
        pages.start()
        feed.start()
        server.start()
        log.info("looking", ["address": "\(server.address)"])
    }

    /// Answers the requests in progress, and ends.
    package func stop(deadline: Deadline) {
        // First those who only wait for events.
        feed.stop()
        server.stop(deadline: deadline)
        readers.stop()
        pages.stop()
        directory.stop()
    }

    package func readCertificateAnew() throws(HTTPServerError) -> Bool { try server.readCertificateAnew() }
}
