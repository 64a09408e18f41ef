internal import Glibc

/// Standard output and standard error, written completely and without a buffer.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    private static let failures = Lock<[StandardStream: Int32]>([:])

    private static let deserted = Lock<Set<StandardStream>>([])

    /// Whether its reader has gone, so that an endless command can stop.
    package var isDeserted: Bool { Self.deserted.withLock { $0.contains(self) } }

    /// Why some output was lost, as the system's error text; nil if nothing was. A reader that went away had enough:
    /// that does not count.
    package var failure: String? {
        guard let code = Self.failures.withLock({ $0[self] }) else { return nil }
        return unsafe String(cString: strerror(code))
    }

    /// Writes all of it, or as much as the other end takes. The rest is lost, and `failure` says why.
    package func write(_ text: String) { _ = write(Array(text.utf8)) }

    /// Writes all of it, or as much as the other end takes. Returns what was lost.
    func write(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(rawValue, bytes.baseAddress, bytes.count)
            }
            if written > 0 {
                rest = rest.dropFirst(written)
                continue
            }
            let code = written == 0 ? EIO : errno
            if code == EINTR { continue }
            if code == EPIPE {
                _ = Self.deserted.withLock { $0.insert(self) }
            } else {
                Self.failures.withLock { $0[self] = $0[self] ?? code }
            }
            break
        }
        return rest
    }

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether a person who wants colour is watching.
    package var takesColour: Bool {
        guard isTerminal else { return false }
        guard let refusal = unsafe getenv("NO_COLOR") else { return true }
        return unsafe refusal.pointee == 0
    }
}

extension StandardStream {
    /// Call it first in `main`. If a descriptor was left closed (`>&-`), the next opened file would get its number, and
    /// output would go into the database connection. Reading from it or writing to it still fails.
    package static func holdClosed() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // It gets the lowest free number: this one.
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}

extension String {
    /// Appends a text in a form that is safe for a terminal: control characters and characters that change direction
    /// are made visible.
    package mutating func appendPrintable(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: append(scalar.escaped(asASCII: true))
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// A text in a form that is safe for a terminal.
    package init(printable text: String) {
        self = ""
        appendPrintable(text)
    }
}
