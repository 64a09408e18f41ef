internal import Glibc
internal import ServiceRuntime

/// Something that opens a place, such as the URL of a webhook: where it is kept, not what it is.
package enum Secret: Sendable, Hashable {
    /// In the open, for what is no secret: the address of one's own server.
    case plain(String)
    case file(String)
    case environment(String)

    /// It cannot be read.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    private static let mostBytes = 4096

    /// Reads it: one line, without the blanks around it.
    package func read() throws(Missing) -> String {
        let text: String
        switch self {
        case .plain(let value): return value
        case .environment(let name):
            guard let value = unsafe getenv(name) else {
                throw Missing(description: "the environment variable \(name) is not set")
            }
            text = unsafe String(cString: value)
        case .file(let path): text = try Self.contents(of: path)
        }
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        guard lines.count <= 1 else { throw Missing(description: "\(place) has more than one line") }
        let line = lines.first ?? ""
        guard let first = line.firstIndex(where: { !$0.isWhitespace }),
            let last = line.lastIndex(where: { !$0.isWhitespace })
        else { throw Missing(description: "\(place) is empty") }
        return String(line[first...last])
    }

    private var place: String {
        switch self {
        case .plain: "the file"
        case .file(let path): "'\(String(printable: path))'"
        case .environment(let name): "the environment variable \(name)"
        }
    }

    private static func contents(of path: String) throws(Missing) -> String {
        let name = "'\(String(printable: path))'"
        // A pipe that nobody writes to would keep the night waiting.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw Missing(description: "cannot read \(name): \(unsafe String(cString: strerror(errno)))")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: mostBytes + 1)
        var count = 0
        while count < bytes.count {
            let part = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(file, bytes.baseAddress.map { unsafe $0 + count }, bytes.count - count)
            }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else {
                throw Missing(description: "cannot read \(name): \(unsafe String(cString: strerror(errno)))")
            }
            if part == 0 { break }
            count += part
        }
        guard count <= mostBytes else { throw Missing(description: "\(name) holds more than one secret") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
