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
    /// How much of a line that is too long was skipped.
    private var skipped = 0
    /// How many lines were returned, and bytes read, so far.
    package private(set) var lines = 0
    package private(set) var bytes = 0
    private let told: (_ lines: Int, _ bytes: Int) -> Void

    /// A line is given up after this many bytes: what has no end has no lines.
    private static let mostSkipped = 64 * 1024 * 1024

    /// Reads from a descriptor, which the caller closes. `told` is called after each piece that was read.
    package init(
        descriptor: Int32, longest: Int, chunk: Int = 256 * 1024,
        telling told: @escaping (_ lines: Int, _ bytes: Int) -> Void = { _, _ in }
    ) {
        self.told = told
        self.descriptor = descriptor
        self.longest = longest
        buffer = [UInt8](repeating: 0, count: chunk)
    }

    /// The next line; nil at the end. The last one need not end with a line feed.
    package func next() throws(Failure) -> Line? {
        skipped = 0
        let line = try read()
        if line != nil { lines += 1 }
        return line
    }

    private func read() throws(Failure) -> Line? {
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
            if isTooLong || line.count + part.count > longest {
                isTooLong = true
                skipped += line.count + part.count
                line = []
                guard skipped <= Self.mostSkipped else {
                    throw Failure(reason: "line \(lines + 1) has no end within \(Self.mostSkipped) bytes")
                }
            } else {
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
                bytes += count
                told(lines, bytes)
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
