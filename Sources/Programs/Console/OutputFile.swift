internal import Glibc
internal import ServiceRuntime

/// A file that is written completely or not at all: a reader always sees either the old or the new one.
package enum OutputFile {
    /// Writes a text, and replaces the file's contents.
    package static func write(_ text: String, to path: String) throws {
        var status = stat()
        // Do not replace a terminal or other device by a file.
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure("'\(String(printable: path))' is not a file: leave out --output to write to standard output")
        }
        let (directory, name) = parts(of: try destination(of: path))
        try OutputDirectory(directory, for: path).write(text, to: name)
    }

    /// The target of one of our own links. Another user's link could lead anywhere.
    private static func destination(of path: String) throws -> String {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        let weakness = geteuid() == 0 ? TrustedPath.weakness(of: path, trusting: [0]) : nil
        guard weakness == nil, status.st_uid == geteuid() || status.st_uid == 0,
            let real = unsafe realpath(path, nil)
        else {
            throw Failure(
                "'\(String(printable: path))' is a link that another user may have made: name the file itself")
        }
        // SAFETY: realpath allocated it; it is copied, then freed.
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private static func parts(of path: String) -> (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        return (directory, String(path[path.utf8.index(after: slash)...]))
    }
}
