internal import Glibc
internal import ServiceRuntime

/// A file that is written whole or not at all: whoever reads it meanwhile sees the old one or the new one.
enum OutputFile {
    /// Writes a text, in the place of what the file held.
    static func write(_ text: String, to path: String) throws {
        let path = try target(path)
        let directory = directory(of: path)
        let temporary = "\(directory)/.bellwether-\(getpid())-\(UInt32.random(in: .min ... .max))"
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure("written", path) }
        var isDone = false
        defer { if !isDone { unlink(temporary) } }
        let isWritten = writeAll(text, to: file) && fsync(file) == 0
        let reason = errno
        guard close(file) == 0, isWritten else {
            if !isWritten { errno = reason }
            throw failure("written", path)
        }
        guard rename(temporary, path) == 0 else { throw failure("written", path) }
        isDone = true
        // Else a power failure could bring the old one back, which is no half one either.
        let entry = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if entry >= 0 {
            fsync(entry)
            close(entry)
        }
    }

    /// Makes a directory and those above it.
    static func makeDirectory(_ path: String) throws {
        if isDirectory(path) { return }
        let parent = directory(of: path)
        if parent != path, parent != "." { try makeDirectory(parent) }
        guard mkdir(path, 0o777) != 0, errno != EEXIST || !isDirectory(path) else { return }
        throw failure("made", path)
    }

    private static func isDirectory(_ path: String) -> Bool {
        let before = errno
        defer { errno = before }
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Where a link leads. What is no file, such as a terminal, must not be put away for one.
    private static func target(_ path: String) throws -> String {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("'\(String(printable: path))' is no file: leave --output out to write to standard output")
        }
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private static func directory(of path: String) -> String {
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
