internal import Glibc

/// Reads a file line by line, with only one line in memory.
package final class LineReader {
    /// One line, without its end.
    package enum Line: Equatable, Sendable {
        case bytes([UInt8])
        /// A line above the limit; it was skipped.
        case tooLong
    }

    /// The system failed to read; the text says why.
    package struct Failure: Error, Sendable {
        package let reason: String
    }

    private let descriptor: Int32
    private let longest: Int
    private var buffer: [UInt8]
    private var unread: Range<Int> = 0..<0
    private var hasEnded = false

    /// Reads from a descriptor, which the caller closes.
    package init(descriptor: Int32, longest: Int, chunk: Int = 256 * 1024) {
        self.descriptor = descriptor
        self.longest = longest
        buffer = [UInt8](repeating: 0, count: chunk)
    }

    /// The next line; nil at the end. The last one need not end with a line feed.
    package func next() throws(Failure) -> Line? {
        var line: [UInt8] = []
        var isTooLong = false
        while true {
            if unread.isEmpty {
                try fill()
                if unread.isEmpty {
                    if isTooLong { return .tooLong }
                    return line.isEmpty ? nil : .bytes(line)
                }
            }
            let piece = buffer[unread]
            let end = piece.firstIndex(of: UInt8(ascii: "\n"))
            let part = piece[..<(end ?? piece.endIndex)]
            if line.count + part.count > longest {
                isTooLong = true
                line = []
            } else if !isTooLong {
                line += part
            }
            guard let end else {
                unread = unread.upperBound..<unread.upperBound
                continue
            }
            unread = (end + 1)..<unread.upperBound
            if isTooLong { return .tooLong }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            return .bytes(line)
        }
    }

    private func fill() throws(Failure) {
        while !hasEnded {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            }
            if count > 0 {
                unread = 0..<count
                return
            }
            if count == 0 {
                hasEnded = true
                return
            }
            let code = errno
            if code != EINTR { throw Failure(reason: unsafe String(cString: strerror(code))) }
        }
    }
}
