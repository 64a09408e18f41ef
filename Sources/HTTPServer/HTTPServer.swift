internal import Glibc
package import ServiceRuntime

/// A server of HTTP/1.1 on a TCP address or a Unix socket, with or without TLS: sockets to request and response, with a
/// limit on everything a client can do. It knows no routes; what it must answer by itself it asks `errorResponse` for.
package final class HTTPServer: Sendable {
    /// Where it listens, with the port that was chosen for port 0.
    package let address: HTTPServerConfiguration.Address
    private let context: ServerContext
    private let engine: Engine
    private let listener: Listener
    private let watch: CertificateWatch?
    private let worker = Lock(Worker?.none)
    private let life = Lock(Life.ready)

    private enum Life: Sendable { case ready, running, stopping, stopped }

    /// Listens, but lets nobody in before `start`.
    package init(
        configuration: HTTPServerConfiguration, handler: any RequestHandler, log: Log,
        errorResponse: @escaping @Sendable (RequestFault) -> Response
    ) throws(HTTPServerError) {
        let identity = try configuration.tls.map { files throws(HTTPServerError) in try TLSIdentity(files) }
        let doorbell = try Doorbell()
        context = ServerContext(
            configuration: configuration, identity: identity, handler: handler, log: log,
            mailbox: Mailbox(doorbell: doorbell), errorResponse: errorResponse)
        listener = try Listener(configuration.listen, unixSocketMode: configuration.unixSocketMode)
        address = listener.address
        do {
            engine = try Engine(server: context, listener: listener, doorbell: doorbell)
        } catch {
            listener.close()
            throw error
        }
        watch = configuration.tls.map { [context] in CertificateWatch($0, context) }
    }

    /// Throws what a server would not start with: files that cannot be read, or are no pair.
    package static func check(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        _ = try TLSIdentity(tls)
    }

    /// Reads certificate and key anew, for the clients that come from now on. Throws, and changes nothing, for files with
    /// which it would not start. False for plain HTTP.
    package func readCertificateAnew() throws(HTTPServerError) -> Bool {
        guard let tls = context.configuration.tls else { return false }
        context.identity = try TLSIdentity(tls)
        return true
    }

    deinit {
        stop(deadline: .now)
    }

    /// The port, of a TCP address.
    package var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }

    /// What it has seen so far.
    package var counts: ServerCounts { context.counters.snapshot() }

    package func start() {
        let starts = life.withLock { life in
            guard life == .ready else { return false }
            life = .running
            return true
        }
        guard starts else { return }
        let engine = engine
        worker.withLock { $0 = Worker(name: "http") { engine.run() } }
        watch?.start()
    }

    /// Lets nobody in any more, waits until all requests in flight have their answers, and ends. What has none when the
    /// deadline passes is told so. Returns when all is over, at most some three seconds after the deadline; safe to call
    /// again, and by several.
    package func stop(deadline: Deadline) {
        let before = life.withLock { life in
            let before = life
            if life == .ready || life == .running { life = .stopping }
            return before
        }
        switch before {
        case .stopped: return
        case .stopping: _ = life.wait(until: .never) { $0 == .stopped ? true : nil }
        case .running:
            watch?.stop()
            context.advance(to: .draining)
            context.mailbox.post(.shutTheDoor)
            context.waitUntilTheDoorIsShut()
            if !context.waitUntilNothingIsInFlight(until: deadline) {
                context.mailbox.post(.hurry)
                // The last answers need a moment to get out.
                _ = context.waitUntilNothingIsInFlight(until: .after(seconds: 1))
            }
            context.mailbox.post(.end)
            worker.withLock { $0 }?.join()
            life.withLockNotifying { $0 = .stopped }
        case .ready:
            listener.close()
            life.withLockNotifying { $0 = .stopped }
        }
    }
}
