internal import CMicroHTTPD
internal import Glibc
internal import ServiceRuntime

/// libmicrohttpd with its I/O threads. It does not listen: connections are handed to it, because only so can we stop
/// accepting without a race inside it, answer those we refuse, and know every descriptor before it is used.
@safe final class Daemon: @unchecked Sendable {
    // SAFETY: `MHD_add_connection` may be called from any thread. `stop` is called once, when nobody adds any more.
    private let handle: OpaquePointer
    private let context: ServerContext

    init(context: ServerContext, certificate: [UInt8]?, privateKey: [UInt8]?) throws(HTTPServerError) {
        self.context = context
        let configuration = context.configuration
        var options = unsafe bellwether_daemon_options()
        // SAFETY: the context outlives the daemon: this object keeps it and `stop` ends all callbacks.
        unsafe options.context = Unmanaged.passUnretained(context).toOpaque()
        unsafe options.log = DaemonCallbacks.log
        unsafe options.answer = DaemonCallbacks.answer
        unsafe options.request_line = DaemonCallbacks.requestLine
        unsafe options.request_completed = DaemonCallbacks.requestCompleted
        unsafe options.connection_changed = DaemonCallbacks.connectionChanged
        // Holds the head, a record for each field, and the head of the answer.
        unsafe options.memory_per_connection = max(32 << 10, configuration.headerLimit * 3 / 2 + (8 << 10))
        // Ours is the limit that counts; this one is divided among the threads and must never be the first to bite.
        unsafe options.connection_limit =
            UInt32(clamping: (configuration.connectionLimit + 64) * max(1, configuration.ioThreads))
        unsafe options.threads = UInt32(clamping: max(1, configuration.ioThreads))
        let handle = unsafe Daemon.withPEM(certificate) { certificate in
            unsafe Daemon.withPEM(privateKey) { privateKey in
                unsafe options.certificate = certificate
                unsafe options.private_key = privateKey
                return unsafe bellwether_start_daemon(&options)
            }
        }
        guard let handle = unsafe handle else {
            if let tls = configuration.tls {
                throw .tlsRefused(
                    certificate: tls.certificate, privateKey: tls.privateKey,
                    reason: context.lastComplaint ?? "GnuTLS does not accept them")
            }
            throw .cannotStart(reason: context.lastComplaint ?? SystemError.last.description)
        }
        unsafe self.handle = handle
    }

    /// Hands a socket over. It is closed in any case, by libmicrohttpd.
    func add(_ connection: Connection) {
        // libmicrohttpd wants an address, for a limit that we keep ourselves: one that says nothing will do.
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNSPEC)
        let added = unsafe MHD_add_connection(
            handle, connection.descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
        if added == .NO { context.connections.remove(connection) }
    }

    /// Ends all threads and connections. No connection may be suspended: libmicrohttpd would abort the process.
    func stop() {
        unsafe MHD_stop_daemon(handle)
    }

    private static func withPEM<Result>(
        _ bytes: [UInt8]?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let bytes else { return body(nil) }
        return unsafe (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { text in
            unsafe body(text.baseAddress)
        }
    }
}
