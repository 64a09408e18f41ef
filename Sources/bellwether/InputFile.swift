internal import Glibc
internal import ServiceRuntime

/// A file that somebody gave us to read.
enum InputFile {
    /// All of it; nil when it is larger than that, of which no more is read. `-` is standard input.
    static func read(_ path: String, most: Int) throws -> [UInt8]? {
        let file = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(path) }
        defer { if file > 0 { close(file) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= most {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path)
            }
            bytes += buffer[..<count]
        }
        return nil
    }

    private static func failure(_ path: String) -> Failure {
        Failure("'\(String(printable: path))' cannot be read: \(unsafe String(cString: strerror(errno)))")
    }
}
