internal import Glibc
package import ServiceRuntime

/// The owner's choices for an embedded database.
package struct ServerOptions: Sendable {
    /// The role that owns everything. It cannot change after the database is created: pass the same name each time.
    package var superuser: String
    /// Roles, besides the superuser, that this machine's allowed users may log in as. They are not created here.
    package var roles: [String]
    /// Settings for this start. They override the computed ones; the user's own file overrides them. Only for throwaway
    /// clusters: `["fsync": "off"]` loses data in a machine crash, and also skips the syncs of `initdb`.
    package var settings: [String: String]

    package init(superuser: String = "postgres", roles: [String] = [], settings: [String: String] = [:]) {
        self.superuser = superuser
        self.roles = roles
        self.settings = settings
    }
}

/// A private PostgreSQL database in a data directory, in use by this process.
///
/// The first user creates it and starts its server; the last one to release it stops the server. Each user holds a lock
/// that the kernel releases, so processes may be killed at any time: the next one finds the server running, uses it,
/// and stops it if it is the last.
///
/// ```swift
/// let server = try EmbeddedServer.use(dataDirectory: "data", log: log)
/// defer { server.release() }
/// let url = server.connectionURL(database: "postgres")
/// ```
package final class EmbeddedServer: Sendable {
    private struct Use {
        var lease: LockFile?
        var socket: UnixSocket
    }

    private let server: Server
    private let state: Lock<Use>

    init(server: Server, lease: LockFile, socket: UnixSocket) {
        self.server = server
        state = Lock(Use(lease: lease, socket: socket))
    }

    deinit { release() }

    /// The data directory, by its real path.
    package var dataDirectory: String { server.directory.path }

    /// The role that owns everything.
    package var superuser: String { server.options.superuser }

    /// Uses the database in this data directory. Creates it if there is none, and starts its server if none runs. The
    /// server stays until `release()`.
    package static func use(
        dataDirectory: String, options: ServerOptions = ServerOptions(), log: Log,
        deadline: Deadline = .after(seconds: 60)
    ) throws(EmbeddedPostgresError) -> EmbeddedServer {
        // Nothing is made where PostgreSQL is still missing. Root would make it for another user than once it is there.
        if try ServerDirectory.existing(dataDirectory) == nil {
            _ = try PostgresInstallation.matching(dataDirectory: dataDirectory + "/pg/data", deadline: deadline)
        }
        let directory = try ServerDirectory.prepare(dataDirectory, deadline: deadline)
        guard FileStatus(directory.restoreMarker) == nil else { throw .unfinishedRestore(directory: directory.path) }
        let server = Server(directory: directory, options: options, log: log)
        let transition = try transitionLock(of: directory, by: deadline)
        defer { transition.unlock() }
        let lease = try LockFile(path: directory.leaseLock)
        try lease.lock(.shared, by: deadline, whileOthers: "another process to decide about the database")
        let socket = try server.ensureRunning(deadline: deadline)
        return EmbeddedServer(server: server, lease: lease, socket: socket)
    }

    /// A libpq URL for the local socket; without `user`, for the superuser.
    package func connectionURL(database: String, user: String? = nil) -> String {
        let socket = state.withLock { $0.socket }
        // Not every program takes a directory as the host before the database.
        return "postgresql://\((user ?? superuser).percentEncoded)@/\(database.percentEncoded)"
            + "?host=\(socket.directory.percentEncoded)&port=\(socket.port)"
    }

    /// Restarts the server if it was killed or stopped. Does nothing while it runs.
    package func ensureRunning(deadline: Deadline = .after(seconds: 60)) throws(EmbeddedPostgresError) {
        let transition = try Self.transitionLock(of: server.directory, by: deadline)
        defer { transition.unlock() }
        let socket = try server.ensureRunning(deadline: deadline)
        state.withLock { $0.socket = socket }
    }

    /// Removes old files of the server's log, so that all of them together stay below some 100 MB.
    /// Returns whether there were any.
    @discardableResult
    package func removeOldLogs(deadline: Deadline = .after(seconds: 10)) throws(EmbeddedPostgresError) -> Bool {
        try server.removeOldLogs(deadline: deadline)
    }

    /// Lets the running server outlive its last user, until `stop`. A later server start is not affected.
    package func keepRunning() throws(EmbeddedPostgresError) {
        try server.write(["keep": ""], into: server.directory.base, deadline: .after(seconds: 10))
    }

    /// Ends this use. The last user stops the server and waits for that. It is safe to call it again. Errors are only
    /// logged, because nothing is lost.
    package func release(deadline: Deadline = .after(seconds: 60)) {
        guard let lease = state.withLock({ use in use.lease.take() }) else { return }
        do throws(EmbeddedPostgresError) {
            // Decide under the transition lock: a process that arrives meanwhile waits, and starts the server again.
            let transition = try Self.transitionLock(of: server.directory, by: deadline)
            defer { transition.unlock() }
            let isLast = lease.tryLock(.exclusive)
            defer { lease.unlock() }
            if isLast && FileStatus(server.directory.keepMarker) == nil {
                _ = try server.stop(deadline: deadline)
            }
        } catch {
            lease.unlock()
            server.log.warning("the database was left running", ["reason": error.description])
        }
    }

    /// Stops the server of this data directory, even if it was to be kept running, and returns whether it ran. Refuses
    /// while another process uses it, unless forced.
    package static func stop(
        dataDirectory: String, force: Bool = false, log: Log = .silent, deadline: Deadline = .after(seconds: 60)
    ) throws(EmbeddedPostgresError) -> Bool {
        guard let directory = try ServerDirectory.existing(dataDirectory) else { return false }
        let transition = try transitionLock(of: directory, by: deadline)
        defer { transition.unlock() }
        let lease = try LockFile(path: directory.leaseLock)
        let isUnused = lease.tryLock(.exclusive)
        defer { lease.unlock() }
        guard isUnused || force else {
            throw .inUse(directory: directory.path, processes: lease.holders)
        }
        unsafe unlink(directory.keepMarker)
        return try Server(directory: directory, options: ServerOptions(), log: log).stop(deadline: deadline)
    }

    /// Whether a server runs (or is starting or stopping) for this data directory.
    package static func isRunning(dataDirectory: String) throws(EmbeddedPostgresError) -> Bool {
        guard let directory = try ServerDirectory.existing(dataDirectory) else { return false }
        let server = Server(directory: directory, options: ServerOptions(), log: .silent)
        switch try server.observe(deadline: .after(seconds: 10)) {
        case .absent, .stale: return false
        case .present, .unclear: return true
        }
    }

    /// Whether there is a database in this data directory.
    package static func exists(dataDirectory: String) throws(EmbeddedPostgresError) -> Bool {
        guard let directory = try ServerDirectory.existing(dataDirectory) else { return false }
        return FileStatus(directory.data + "/PG_VERSION") != nil
    }

    static func transitionLock(
        of directory: ServerDirectory, by deadline: Deadline
    ) throws(EmbeddedPostgresError) -> LockFile {
        let lock = try LockFile(path: directory.transitionLock)
        try lock.lock(.exclusive, by: deadline, whileOthers: "another process that starts or stops the database")
        return lock
    }
}

extension String {
    /// The text, escaped as a part of a URL.
    fileprivate var percentEncoded: String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        return utf8.reduce(into: "") { text, byte in
            if plain.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
