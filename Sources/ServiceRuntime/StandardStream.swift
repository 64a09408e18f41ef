internal import Glibc

/// Standard output and standard error, written whole and without a buffer in between.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all of it, or as much as the other end takes; a reader that went away is no error worth dying for.
    package func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(rawValue, bytes.baseAddress, bytes.count)
            }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return
            }
        }
    }

    package var isTerminal: Bool { isatty(rawValue) == 1 }
}
