internal import Glibc
internal import ServiceRuntime

/// One complete run of another program, with its output.
///
/// The program inherits nothing from us (`ChildStart`), and of the environment's variables only a short list.
struct Subprocess {
    /// The exit code, or 128 + n if signal n ended it.
    let status: Int32
    /// Standard output and standard error together, the last `outputLimit` bytes.
    let output: String
    /// Whether it was killed because the deadline passed.
    let timedOut: Bool

    var succeeded: Bool { status == 0 && !timedOut }

    private static let outputLimit = 16_384

    /// Runs `arguments` (the first is a path) in `/` and waits for it.
    static func run(
        _ arguments: [String], deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Subprocess {
        // A socket pair, because pipe2(2) needs _GNU_SOURCE, and a descriptor must never exist without close-on-exec:
        // another thread's child would keep it open.
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw .system(call: "socketpair", path: arguments[0], code: errno)
        }
        let (ours, theirs) = (ends[0], ends[1])
        defer { close(ours) }
        let process: pid_t
        do {
            defer { close(theirs) }
            // PostgreSQL fails if its user may not enter the working directory.
            process = try spawn(["/bin/sh", "-c", "cd / && exec \"$@\"", "sh"] + arguments, output: theirs)
        }
        let (output, ended) = read(ours, until: deadline)
        if !ended { kill(-process, SIGKILL) }
        return Subprocess(status: wait(for: process), output: output, timedOut: !ended)
    }

    private static func spawn(
        _ arguments: [String], output: Int32
    ) throws(EmbeddedPostgresError) -> pid_t {
        var start = ChildStart(arguments, environment: Environment.ofChildren)
        start.output = output
        do throws(ChildStart.Failure) { return try start.run(arguments[0]) } catch {
            throw .system(call: "start", path: arguments[0], code: error.code)
        }
    }

    /// The end of the output, and whether the other side closed it before the deadline.
    private static func read(_ descriptor: Int32, until deadline: Deadline) -> (output: String, ended: Bool) {
        var kept: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe Glibc.poll(&poll, 1, deadline.pollTimeout)
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { return (String(decoding: kept, as: UTF8.self), false) }
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return (String(decoding: kept, as: UTF8.self), true) }
            kept += chunk[..<count]
            if kept.count > outputLimit { kept.removeFirst(kept.count - outputLimit) }
        }
    }

    private static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}

/// The environment variables that matter here.
enum Environment {
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        // SAFETY: getenv returns a string of the environment, which this program never changes after its start.
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The environment of a server and its tools. It lists what is allowed, not what is forbidden: PGHOST, PGOPTIONS
    /// and similar variables would change what the tools do, and our secrets do not belong in a server's environment.
    static var ofChildren: [String] {
        var variables = ["LC_ALL=C", "PATH=" + (value("PATH") ?? "/usr/bin:/bin")]
        for name in ["LD_LIBRARY_PATH", "GLIBC_TUNABLES"] {
            if let value = value(name) { variables.append("\(name)=\(value)") }
        }
        return variables
    }
}
