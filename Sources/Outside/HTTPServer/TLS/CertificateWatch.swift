internal import Glibc
internal import ServiceRuntime

/// Makes the server reload its certificate and key when the files have changed, which happens every few weeks.
final class CertificateWatch: Sendable {
    private let files: HTTPServerConfiguration.TLS
    private let server: ServerContext
    private let isStopping = Lock(false)
    private let worker = Lock(Worker?.none)

    private static let interval = 2.0

    init(_ files: HTTPServerConfiguration.TLS, _ server: ServerContext) {
        (self.files, self.server) = (files, server)
    }

    func start() {
        // Read before the first check, so that a change in between counts as a change.
        let first = state
        worker.withLock { $0 = Worker(name: "certificate") { self.run(from: first) } }
    }

    func stop() {
        isStopping.withLockNotifying { $0 = true }
        worker.withLock { $0 }?.join()
    }

    private func run(from first: [FileState]) {
        var known = first
        while isStopping.wait(until: .after(seconds: CertificateWatch.interval), for: { $0 ? true : nil }) == nil {
            let present = state
            guard present != known else { continue }
            known = present
            do {
                server.identity = try TLSIdentity(files)
                server.log.info("the certificate changed and was reloaded", ["file": files.certificate])
                server.warnOfExpiry()
            } catch {
                // Perhaps one of the two files is still to come. The old pair stays in use meanwhile.
                server.log.warning(
                    "the certificate changed but could not be loaded: the old one stays in use", ["error": "\(error)"])
            }
        }
    }

    private var state: [FileState] { [FileState(of: files.certificate), FileState(of: files.privateKey)] }
}

/// Shows whether a file's content has changed.
private struct FileState: Equatable {
    private var device: UInt64 = 0
    private var inode: UInt64 = 0
    private var size: Int64 = 0
    private var seconds: Int = 0
    private var nanoseconds: Int = 0

    init(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
