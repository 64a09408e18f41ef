internal import Glibc
internal import ServiceRuntime

/// A file that a command reads, or standard input for `-`.
package final class InputFile {
    package let descriptor: Int32
    /// Its name for messages.
    package let name: String

    package init(_ path: String) throws {
        guard path != "-" else {
            (descriptor, name) = (STDIN_FILENO, "standard input")
            return
        }
        name = "'\(String(printable: path))'"
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure("cannot read \(name): \(unsafe String(cString: strerror(errno)))")
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw Failure("\(name) is a directory")
        }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// The whole file; nil if it is larger than `most`, and then the rest is not read.
    package static func read(_ path: String, most: Int) throws -> [UInt8]? {
        let file = try InputFile(path)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= most {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file.descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure("cannot read \(file.name): \(unsafe String(cString: strerror(errno)))")
            }
            bytes += buffer[..<count]
        }
        return nil
    }
}
