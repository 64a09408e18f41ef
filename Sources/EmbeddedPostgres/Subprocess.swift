internal import Glibc
internal import ServiceRuntime

/// One complete run of another program, with its output.
///
/// The program inherits nothing from us: no signal mask, no handler, no open file, and only a short list of environment
/// variables. It has its own process group, so Ctrl-C at the terminal does not reach it.
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
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        // A server that lives on must not hold files that we inherited without close-on-exec.
        for descriptor in (FilePath.names(in: "/proc/self/fd") ?? []).compactMap({ Int32($0) }) where descriptor > 2 {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        var process: pid_t = 0
        let program = arguments[0]
        let code = unsafe withCStrings(arguments) { arguments in
            unsafe withCStrings(Environment.ofChildren) { environment in
                unsafe posix_spawn(&process, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw .system(call: "start", path: arguments[0], code: code) }
        return process
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

/// Passes null-terminated strings in a null-terminated array, as exec needs them.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    // SAFETY: the copies live until `body` has returned. `body` only passes them to posix_spawn, which keeps none.
    var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { copy in unsafe free(copy) } }
    return unsafe copies.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the null pointer at least is there") }
        return unsafe body(start)
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

    /// The environment of a server and its tools. It lists what is allowed, not what is forbidden: PGHOST, PGOPTIONS and
    /// similar variables would change what the tools do, and our secrets do not belong in a server's environment.
    static var ofChildren: [String] {
        var variables = ["LC_ALL=C", "PATH=" + (value("PATH") ?? "/usr/bin:/bin")]
        for name in ["LD_LIBRARY_PATH", "GLIBC_TUNABLES"] {
            if let value = value(name) { variables.append("\(name)=\(value)") }
        }
        return variables
    }
}
