package import Glibc
internal import ServiceRuntime

/// A directory that was checked and stays the same one: all files and directories in it are opened relative to it,
/// never through a link. Root does not write into a directory that others own or can write to, because a name there
/// could lead to any file on the machine.
package final class OutputDirectory {
    private let descriptor: Int32
    private let path: String
    /// Who, besides root, may own it if root writes.
    private let users: Set<uid_t>

    /// Opens a directory for files in it. If `isMade` is true, creates it and its missing parents.
    package convenience init(
        _ path: String, isMade: Bool = false, for file: String? = nil, trusting users: Set<uid_t> = []
    ) throws {
        if geteuid() == 0, let weakness = TrustedPath.weakness(of: path, trusting: users) {
            throw Failure(
                "root does not write into '\(String(printable: path))', because \(String(printable: weakness)): "
                    + "choose another directory, or run this as its owner"
            )
        }
        if isMade { try Self.make(path) }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(file == nil ? "opened" : "written", file ?? path) }
        try self.init(descriptor, path, users)
    }

    private init(_ descriptor: Int32, _ path: String, _ users: Set<uid_t>) throws {
        self.descriptor = descriptor
        self.path = path
        self.users = users
        // Check again, now that nobody can replace it.
        if geteuid() == 0, let weakness = TrustedPath.weakness(ofDirectory: descriptor, called: path, trusting: users) {
            throw Failure(
                "root does not write into '\(String(printable: path))', because \(String(printable: weakness))")
        }
    }

    deinit { close(descriptor) }

    /// The subdirectory of this name. Creates it if it is missing.
    package func directory(_ name: String) throws -> OutputDirectory {
        let place = "\(path)/\(name)"
        guard unsafe mkdirat(descriptor, name, 0o777) == 0 || errno == EEXIST else { throw Self.failure("made", place) }
        let inner = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard inner >= 0 else {
            let code = errno
            var status = stat()
            let isThere = unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            let isLink = isThere && status.st_mode & S_IFMT == S_IFLNK
            let reason = isLink ? "it is a link" : unsafe String(cString: strerror(code))
            throw Failure("cannot create '\(String(printable: place))': \(reason)")
        }
        return try OutputDirectory(inner, place, users)
    }

    /// Replaces the contents of the file of this name.
    package func write(_ text: String, to name: String) throws {
        let place = "\(path)/\(name)"
        var status = stat()
        if unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure("'\(String(printable: place))' is a link, or not a file: name the file itself")
        }
        let temporary = ".bellwether-\(getpid())-\(UInt32.random(in: .min ... .max))"
        let file = unsafe openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.failure("written", place) }
        var isDone = false
        defer { if !isDone { unsafe unlinkat(descriptor, temporary, 0) } }
        let isWritten = Self.writeAll(text, to: file) && fsync(file) == 0
        let reason = errno
        guard close(file) == 0, isWritten else {
            if !isWritten { errno = reason }
            throw Self.failure("written", place)
        }
        guard unsafe renameat(descriptor, temporary, descriptor, name) == 0 else {
            throw Self.failure("written", place)
        }
        isDone = true
        // Otherwise a power failure could bring the old file back, which would at least be complete.
        fsync(descriptor)
    }

    /// Creates a directory and its missing parents.
    private static func make(_ path: String) throws {
        if isDirectory(path) { return }
        let parent = parent(of: path)
        if parent != path, parent != "." { try make(parent) }
        guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST || !isDirectory(path) else { return }
        throw failure("made", path)
    }

    private static func isDirectory(_ path: String) -> Bool {
        let before = errno
        defer { errno = before }
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func parent(of path: String) -> String {
        let trimmed = path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    private static func writeAll(_ text: String, to file: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
            }
            if written > 0 { rest = rest.dropFirst(written) } else if errno != EINTR { return false }
        }
        return true
    }

    private static func failure(_ done: String, _ path: String) -> Failure {
        Failure("'\(String(printable: path))' cannot be \(done): \(unsafe String(cString: strerror(errno)))")
    }
}
