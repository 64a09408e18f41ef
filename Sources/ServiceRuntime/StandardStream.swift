internal import Glibc

/// Standard output and standard error, written whole and without a buffer in between.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    private static let failures = Lock<[StandardStream: Int32]>([:])

    private static let deserted = Lock<Set<StandardStream>>([])

    /// Whether its reader went away: whoever writes without end has nobody to write for.
    package var isDeserted: Bool { Self.deserted.withLock { $0.contains(self) } }

    /// Why something that was written did not arrive, in the words of the system; nil while all did. A reader that went
    /// away had enough: that is none.
    package var failure: String? {
        guard let code = Self.failures.withLock({ $0[self] }) else { return nil }
        return unsafe String(cString: strerror(code))
    }

    /// Writes all of it, or as much as the other end takes. What it does not take is lost, and `failure` says why.
    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all of it, or as much as the other end takes.
    func write(_ bytes: [UInt8]) {
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
            return
        }
    }

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether somebody looks who wants colour.
    package var takesColour: Bool {
        guard isTerminal else { return false }
        guard let refusal = unsafe getenv("NO_COLOR") else { return true }
        return unsafe refusal.pointee == 0
    }
}

extension StandardStream {
    /// To be called first thing in `main`: a descriptor that somebody left closed (`>&-`) would be given to what is opened
    /// next, and output written into the connection to the database. What is written to it, or read from it, still fails.
    package static func holdClosed() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free one: this.
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}

extension String {
    /// Appends a text as a terminal may see it: what it must not obey (control and direction-changing characters) is
    /// shown, not sent.
    package mutating func appendPrintable(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: append(scalar.escaped(asASCII: true))
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// A text as a terminal may see it.
    package init(printable text: String) {
        self = ""
        appendPrintable(text)
    }
}
