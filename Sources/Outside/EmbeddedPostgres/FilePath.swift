internal import Glibc

/// The result of lstat(2).
struct FileStatus {
    let path: String
    let owner: uid_t
    let isDirectory: Bool
    let isWritableByAll: Bool

    /// nil if there is nothing, or nothing that we may see.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.path = path
        owner = status.st_uid
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isWritableByAll = status.st_mode & S_IWOTH != 0
    }
}

/// Paths of directories.
enum FilePath {
    /// The real path of the deepest existing directory on `path`, and the missing names below it.
    static func resolve(_ path: String) throws(EmbeddedPostgresError) -> (ancestor: String, missing: [String]) {
        guard !path.isEmpty else { throw .unusableDirectory(path: "''", reason: "the path is empty.") }
        // Line breaks would corrupt PostgreSQL's own lock file, which has the path on one line.
        guard !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .unusableDirectory(path: "the path", reason: "it contains control characters.")
        }
        var names = path.split(separator: "/").map(String.init)
        var missing: [String] = []
        while true {
            let candidate = (path.hasPrefix("/") ? "/" : "./") + names.joined(separator: "/")
            if let real = unsafe realpath(candidate, nil) {
                // SAFETY: realpath allocated it; it is copied, then freed.
                defer { unsafe free(real) }
                guard !missing.contains("..") else {
                    throw .unusableDirectory(path: path, reason: "it leads through a directory that does not exist.")
                }
                return (unsafe String(cString: real), missing.filter { $0 != "." })
            }
            guard errno == ENOENT, let last = names.popLast() else {
                throw .system(call: "realpath", path: path, code: errno)
            }
            missing.insert(last, at: 0)
        }
    }

    static func parent(of path: String) -> String {
        let names = path.split(separator: "/").dropLast()
        return "/" + names.joined(separator: "/")
    }

    /// The prefixes of a path: `/`, `/a`, `/a/b` for `/a/b`.
    static func prefixes(of path: String) -> [String] {
        path.split(separator: "/").reduce(into: ["/"]) { prefixes, name in
            let parent = prefixes.last ?? "/"
            prefixes.append((parent == "/" ? "" : parent) + "/" + name)
        }
    }

    /// Whether we may run this program, or enter this directory.
    static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// The names in a directory; nil if it cannot be read.
    static func names(in path: String) -> [String]? {
        guard let directory = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            // SAFETY: readdir returns a name that ends in NUL and is valid until the next call.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    static func isEmptyDirectory(_ path: String) -> Bool { names(in: path)?.isEmpty == true }

    /// Lets everyone pass through a new directory (never through the target of a link).
    static func open(_ path: String) throws(EmbeddedPostgresError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o755) == 0 else { throw .system(call: "chmod", path: path, code: errno) }
    }

    /// Gives a directory (never the target of a link) to the server's user.
    static func give(_ path: String, to account: ServerAccount) throws(EmbeddedPostgresError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
        defer { close(descriptor) }
        guard fchown(descriptor, account.user, account.group) == 0 else {
            throw .system(call: "chown", path: path, code: errno)
        }
    }
}

/// Small files, read whole.
enum TextFile {
    /// The file's text, at most `limit` bytes; nil if there is no such file, it is a link, or it is unreadable.
    static func read(_ path: String, limit: Int = 65_536) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while content.count < limit {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            content += chunk[..<count]
        }
        return String(decoding: content.prefix(limit), as: UTF8.self)
    }
}
