internal import Glibc
package import ServiceRuntime

/// A server of HTTP/1.1 on a TCP address or a Unix socket, with or without TLS: sockets to request and response, with a
/// limit on everything a client can do. It knows no routes; what it must answer by itself it asks `errorResponse` for.
package final class HTTPServer: Sendable {
    /// Where it listens, with the port that was chosen for port 0.
    package let address: HTTPServerConfiguration.Address
    private let context: ServerContext
    private let daemon: Daemon
    private let attendant: Attendant
    private let listener: Listener
    private let worker = Lock(Worker?.none)
    private let life = Lock(Life.ready)

    private enum Life: Sendable { case ready, running, stopping, stopped }

    /// Listens, but lets nobody in before `start`.
    package init(
        configuration: HTTPServerConfiguration, handler: any RequestHandler, log: Log,
        errorResponse: @escaping @Sendable (RequestFault) -> Response
    ) throws(HTTPServerError) {
        let certificate = try configuration.tls.map(HTTPServer.certificate)
        let privateKey = try configuration.tls.map(HTTPServer.privateKey)
        let doorbell = try Doorbell()
        context = ServerContext(
            configuration: configuration, handler: handler, log: log, doorbell: doorbell, errorResponse: errorResponse)
        listener = try Listener(configuration.listen, unixSocketMode: configuration.unixSocketMode)
        address = listener.address
        do {
            daemon = try Daemon(context: context, certificate: certificate, privateKey: privateKey)
        } catch {
            listener.close()
            throw error
        }
        attendant = Attendant(context: context, listener: listener, daemon: daemon, doorbell: doorbell)
    }

    /// Throws what a server would not start with: files that cannot be read, or are no pair.
    package static func check(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        let (certificate, privateKey) = (try certificate(tls), try privateKey(tls))
        let context = ServerContext(
            configuration: HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 0), tls: tls),
            handler: Nobody(), log: .silent, doorbell: try Doorbell(), errorResponse: { _ in Response(status: 503) })
        try Daemon(context: context, certificate: certificate, privateKey: privateKey).stop()
    }

    /// Whom a server asks that has no door.
    private struct Nobody: RequestHandler {
        func begin(_ head: RequestHead, _ exchange: Exchange) { exchange.respond(Response(status: 503)) }
    }

    deinit {
        stop(deadline: .now)
    }

    /// The port, of a TCP address.
    package var port: UInt16? {
        if case .tcp(_, let port) = address { port } else { nil }
    }

    /// What it has seen so far.
    package var counts: ServerCounts { context.counters.snapshot(connectionsOpen: context.connections.count) }

    package func start() {
        let starts = life.withLock { life in
            guard life == .ready else { return false }
            life = .running
            return true
        }
        guard starts else { return }
        let attendant = attendant
        worker.withLock { $0 = Worker(name: "http-door") { attendant.run() } }
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
            context.advance(to: .draining)
            attendant.shutTheDoor()
            let allAnswered = context.waitUntilNothingIsInFlight(until: deadline)
            context.advance(to: .closing)
            if !allAnswered {
                for connection in context.connections.all { connection.hurry() }
                // The last answers need a moment to get out.
                _ = context.waitUntilNothingIsInFlight(until: .after(seconds: 1))
            }
            finish()
        case .ready:
            context.advance(to: .closing)
            listener.close()
            finish()
        }
    }

    private func finish() {
        daemon.stop()
        // What was accepted last may never have got through libmicrohttpd's door.
        context.connections.removeAll()
        attendant.end()
        worker.withLock { $0 }?.join()
        life.withLockNotifying { $0 = .stopped }
    }

    private static func certificate(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) -> [UInt8] {
        try read(tls.certificate, what: "certificate")
    }

    private static func privateKey(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) -> [UInt8] {
        try read(tls.privateKey, what: "private key")
    }

    private static func read(_ path: String, what: String) throws(HTTPServerError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .unreadable(path: path, what: what, reason: SystemError.last.description)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < 1 << 20 {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0 else {
                throw .unreadable(path: path, what: what, reason: SystemError.last.description)
            }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}
