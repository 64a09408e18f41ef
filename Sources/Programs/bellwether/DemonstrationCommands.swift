internal import Console
internal import Glibc
internal import ServiceRuntime

/// Commands that another executable runs, `bellwether-demo` next to this one. So the production program contains
/// neither simulated phones nor an HTTP client.
private protocol DoneByDemo: Command {}

extension DoneByDemo {
    func run() throws -> ExitCode {
        let path = try executable()
        // It gets the same words, environment and streams, and replaces this process, so its exit code is ours.
        unsafe execv(path, CommandLine.unsafeArgv)
        let code = errno
        let place = String(printable: path)
        throw Failure(
            code == ENOENT
                ? "\(Self.words[0]) is done by another executable, which must stand at \(place): "
                    + "'make build' makes it beside bellwether, and 'make install' installs both"
                : "\(place), which does \(Self.words[0]), cannot be started: \(unsafe String(cString: strerror(code)))")
    }

    /// It is next to this executable, even if this one was started through a link.
    private func executable() throws -> String {
        // SAFETY: realpath allocated it; it is copied, then freed.
        guard let own = unsafe realpath("/proc/self/exe", nil) else {
            throw Failure("this program does not find its own place: \(unsafe String(cString: strerror(errno)))")
        }
        defer { unsafe free(own) }
        let path = unsafe String(cString: own)
        return path[...(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)] + "bellwether-demo"
    }
}

struct SimulateCommand: SimulateDeclaration, DoneByDemo {}

struct DemoCommand: DemoDeclaration, DoneByDemo {}
