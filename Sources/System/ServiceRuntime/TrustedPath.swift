package import Glibc

/// Whether a path is safe from other users. Anyone who can write to a directory on the path may redirect it later, or
/// may already have done so with a link.
package enum TrustedPath {
    /// What is wrong with `path`, in words that follow "because"; nil if nothing is. Each directory and link on it,
    /// both as spelled and as resolved, must belong to root or one of these users. Nobody else may write to it, unless
    /// it is like /tmp, where each user only controls their own files. Missing parts at the end are not checked.
    package static func weakness(of path: String, trusting users: Set<uid_t>) -> String? {
        let absolute = path.hasPrefix("/") ? path : workingDirectory + "/" + path
        if let weakness = weakness(along: absolute, users) { return weakness }
        var names = absolute.split(separator: "/").map(String.init)
        while true {
            if let real = unsafe realpath("/" + names.joined(separator: "/"), nil) {
                // SAFETY: realpath allocated it; it is copied, then freed.
                defer { unsafe free(real) }
                return weakness(along: unsafe String(cString: real), users)
            }
            guard names.popLast() != nil else { return nil }
        }
    }

    /// What is wrong with the open directory; nil if nothing is.
    package static func weakness(ofDirectory descriptor: Int32, called path: String, trusting users: Set<uid_t>)
        -> String?
    {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return "\(path) cannot be examined" }
        return weakness(of: status, path, users)
    }

    private static func weakness(along path: String, _ users: Set<uid_t>) -> String? {
        var prefix = ""
        for name in [""] + path.split(separator: "/").map(String.init) {
            prefix = name.isEmpty ? "/" : (prefix == "/" ? "" : prefix) + "/" + name
            var status = stat()
            guard unsafe lstat(prefix, &status) == 0 else { return nil }
            if let weakness = weakness(of: status, prefix, users) { return weakness }
        }
        return nil
    }

    private static func weakness(of status: stat, _ path: String, _ users: Set<uid_t>) -> String? {
        guard status.st_uid == 0 || users.contains(status.st_uid) || isUnmapped(status.st_uid) else {
            return "\(path) belongs to \(name(of: status.st_uid))"
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_mode & S_ISVTX == 0 else { return nil }
        if status.st_mode & S_IWOTH != 0 { return "anybody may write to \(path)" }
        // Many systems give each user a group of their own; it counts as the user.
        let ownGroups = Set(users.compactMap(group)).union([0])
        if status.st_mode & S_IWGRP != 0, !ownGroups.contains(status.st_gid) {
            return "a group (\(status.st_gid)) may write to \(path)"
        }
        return nil
    }

    /// In a container with mapped users, files of "nobody" belong to someone outside.
    private static func isUnmapped(_ user: uid_t) -> Bool {
        guard user == 65534 else { return false }
        let descriptor = unsafe open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0.isWhitespace }
        return words != ["0", "0", "4294967295"]
    }

    private static func account(_ user: uid_t) -> (name: String, group: gid_t)? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let code = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        // SAFETY: the entry points into `buffer`, which lives until the end of this function.
        guard code == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
        return unsafe (String(cString: name), entry.pw_gid)
    }

    private static func name(of user: uid_t) -> String { account(user).map { "user " + $0.name } ?? "user id \(user)" }

    private static func group(of user: uid_t) -> gid_t? { account(user)?.group }

    private static var workingDirectory: String {
        guard let path = unsafe getcwd(nil, 0) else { return "" }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
