internal import Glibc
package import ServiceRuntime

/// An HTTP/1.1 server on a TCP address or a Unix socket, with or without TLS. It turns bytes into requests, sends
/// responses, and limits everything that a client can do. It knows no routes, and asks `errorResponse` for its own
/// answers.
package final class HTTPServer: Sendable {
    /// Where it listens; for port 0, with the port that the system chose.
    package let address: HTTPServerConfiguration.Address
    private let context: ServerContext
    private let engine: Engine
    private let listener: Listener
    private let watch: CertificateWatch?
    private let memoryReturn: MemoryReturn
    private let worker = Lock(Worker?.none)
    private let life = Lock(Life.ready)

    private enum Life: Sendable { case ready, running, stopping, stopped }

    /// Listens, but accepts no client before `start`.
    package init(
        configuration: HTTPServerConfiguration, handler: any RequestHandler, log: Log,
        errorResponse: @escaping @Sendable (RequestFault) -> Response
    ) throws(HTTPServerError) {
        let identity = try configuration.tls.map { files throws(HTTPServerError) in try TLSIdentity(files) }
        let doorbell = try Doorbell()
        context = ServerContext(
            configuration: configuration, identity: identity, handler: handler, log: log,
            mailbox: Mailbox(doorbell: doorbell), errorResponse: errorResponse)
        if let inherited = configuration.inherited {
            listener = Listener(configuration.listen, inherited: inherited)
        } else {
            listener = try Listener(configuration.listen, unixSocketMode: configuration.unixSocketMode)
        }
        address = listener.address
        do {
            engine = try Engine(server: context, listener: listener, doorbell: doorbell)
        } catch {
            listener.close()
            throw error
        }
        watch = configuration.tls.map { [context] in CertificateWatch($0, context) }
        memoryReturn = MemoryReturn(context.counters)
    }

    /// Throws if a server could not start with these files: they are unreadable, or not a pair.
    package static func check(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        _ = try TLSIdentity(tls)
    }

    /// Reloads the certificate and key, for new clients only. Throws if the server could not start with the files, and
    /// then changes nothing. Returns false for plain HTTP.
    package func readCertificateAnew() throws(HTTPServerError) -> Bool {
        guard let tls = context.configuration.tls else { return false }
        context.identity = try TLSIdentity(tls)
        context.warnOfExpiry()
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
        context.warnOfExpiry()
        watch?.start()
        memoryReturn.start()
    }

    /// When clients begin to refuse the present certificate, in seconds since 1970; nil for plain HTTP.
    package var certificateExpiry: Int? { context.identity?.expiry }

    /// Accepts no more clients, waits until all requests in flight have answers, and ends. After the deadline, it
    /// answers the remaining requests itself. It returns when all is done, at most some three seconds after the
    /// deadline. It is safe to call it again, or from several threads.
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
            memoryReturn.stop()
            context.advance(to: .draining)
            context.mailbox.post(.stopListening)
            context.waitUntilListenerClosed()
            if !context.waitUntilNothingIsInFlight(until: deadline) {
                context.mailbox.post(.hurry)
                // The last answers need a moment to be sent.
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
