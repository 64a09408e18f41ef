internal import Glibc
internal import ServiceRuntime

/// Another executable of ours, next to this one. So the program that runs in production contains no HTTP client.
package enum SiblingProgram {
    /// Its path, even if this executable was started through a link.
    package static func path(of name: String) throws -> String {
        // SAFETY: realpath allocated it; it is copied, then freed.
        guard let own = unsafe realpath("/proc/self/exe", nil) else {
            throw Failure("this program does not find its own place: \(unsafe String(cString: strerror(errno)))")
        }
        defer { unsafe free(own) }
        let path = unsafe String(cString: own)
        return path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)] + name
    }

    /// Why it could not be started, and what to do. `what` is what it does.
    package static func failure(_ code: Int32, of path: String, which what: String) -> Failure {
        let place = String(printable: path)
        return Failure(
            code == ENOENT
                ? "\(what) is done by another executable, which must stand at \(place): 'make build' makes it beside "
                    + "bellwether, and 'make install' installs both"
                : "\(place), which does \(what), cannot be started: \(unsafe String(cString: strerror(code)))")
    }
}
