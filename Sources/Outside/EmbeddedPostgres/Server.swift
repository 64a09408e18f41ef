internal import Glibc
internal import ServiceRuntime

/// An embedded server: its state, and how to change it.
///
/// Callers hold the transition lock around everything except `observe` and `running`.
struct Server: Sendable {
    let directory: ServerDirectory
    let options: ServerOptions
    let log: Log

    enum Observation: Equatable {
        /// There is no server and no trace of one.
        case absent
        /// There is a lock file, but no server: it was killed, or the files are a copy.
        case stale
        case present(Postmaster)
        /// The lock file is empty, but processes work on the files.
        case unclear
    }

    var lockFile: String { directory.data + "/postmaster.pid" }

    /// The current state.
    func observe(deadline: Deadline) throws(EmbeddedPostgresError) -> Observation {
        guard let text = TextFile.read(lockFile) else { return .absent }
        guard let postmaster = Postmaster(lockFile: text) else {
            return try processesAtWork(deadline: deadline).isEmpty ? .stale : .unclear
        }
        reap(postmaster)
        // A process id alone proves nothing: another process may have it now, or the files may be a copy of those that
        // this process serves. But a server's working directory is its data directory.
        let outcome = try directory.account.script(
            #"[ "/proc/$1/cwd" -ef "$2" ]"#, [String(postmaster.process), directory.data], deadline: deadline)
        return outcome.succeeded ? .present(postmaster) : .stale
    }

    /// Makes sure that a server runs and answers, and returns its socket. It creates the files, starts the server, or
    /// waits for a starting one, as needed.
    func ensureRunning(deadline: Deadline) throws(EmbeddedPostgresError) -> UnixSocket {
        var restarted = false
        while true {
            switch try observe(deadline: deadline) {
            case .present(let postmaster) where postmaster.phase == .ready:
                let socket = UnixSocket(directory: postmaster.socketDirectory, port: postmaster.port)
                if socket.answers {
                    try admitUsers(deadline: deadline)
                    try removeOldLogs(deadline: deadline)
                    return socket
                }
                // The socket was removed with a temporary directory, or the data directory was moved while the server
                // ran.
                guard !restarted else {
                    throw .startFailed(
                        directory: directory.path, output: "it runs, but nothing answers at \(socket.path)")
                }
                log.warning("the database's socket is gone: restarting it", ["socket": socket.path])
                try stop(postmaster, deadline: deadline)
                restarted = true
            case .present(let postmaster):
                try rest(
                    until: deadline,
                    for: postmaster.phase == .stopping
                        ? "the database to stop" : "the database to start (after a crash it first replays its log)")
            case .unclear:
                try rest(until: deadline, for: "a previous database server to go away")
            case .absent, .stale:
                if FileStatus(directory.data + "/PG_VERSION") == nil { try initialize(deadline: deadline) }
                try start(deadline: deadline)
            }
        }
    }

    /// Writes the list of allowed users at every use: the database's user and root may log in as any of the roles.
    func admitUsers(deadline: Deadline) throws(EmbeddedPostgresError) {
        let present = Set((TextFile.read(directory.data + "/pg_ident.conf") ?? "").split(separator: "\n"))
        guard !present.isSuperset(of: mapText.split(separator: "\n")) else { return }
        try write(["pg_ident.conf": mapText], into: directory.data, deadline: deadline)
        let installation = try PostgresInstallation.matching(dataDirectory: directory.data, deadline: deadline)
        _ = try control(installation, ["reload"], deadline: deadline)
    }

    /// Runs `pg_ctl` in the directory with relative paths. It puts paths into a shell command without enough quoting,
    /// so the shell would expand a `$` in our path.
    func control(
        _ installation: PostgresInstallation, _ arguments: [String], deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Subprocess {
        try directory.account.run(
            [installation.program("pg_ctl")] + arguments + ["-s", "-D", "data"], in: directory.base, deadline: deadline)
    }

    var mapText: String {
        let users = directory.account.name == "root" ? ["root"] : ["root", directory.account.name]
        var seen: Set<String> = []
        let roles = ([options.superuser] + options.roles).filter { seen.insert($0).inserted }
        return ServerSettings.mapText(users: users, roles: roles)
    }

    /// Replaces whole files: a reader sees either the old text or the new one.
    func write(
        _ files: KeyValuePairs<String, String>, into path: String, deadline: Deadline
    ) throws(EmbeddedPostgresError) {
        let outcome = try directory.account.script(
            """
            cd "$1" || exit; shift
            while [ $# -gt 0 ]; do
                printf '%s' "$2" >"$1.new" && mv -f "$1.new" "$1" || exit
                shift 2
            done
            """, [path] + files.flatMap { [$0.key, $0.value] }, deadline: deadline)
        guard outcome.succeeded else {
            throw .unusableDirectory(path: directory.path, reason: "its files cannot be written: \(outcome.output)")
        }
    }

    /// Server processes whose working directory is ours, both parent and children.
    func processesAtWork(deadline: Deadline) throws(EmbeddedPostgresError) -> [pid_t] {
        let outcome = try directory.account.script(
            """
            for process in /proc/[0-9]*; do
                if [ "$process/cwd" -ef "$1" ]; then echo "${process#/proc/}"; fi
            done
            """, [directory.data], deadline: deadline)
        return outcome.output.split(separator: "\n").compactMap { pid_t($0) }
    }

    /// If we are the first process of a container, we inherit the server after `pg_ctl` exits. Without reaping, it
    /// would look alive.
    func reap(_ postmaster: Postmaster, waiting: Bool = false) {
        var status: Int32 = 0
        _ = unsafe waitpid(postmaster.process, &status, waiting ? 0 : WNOHANG)
    }

    func rest(until deadline: Deadline, for what: String) throws(EmbeddedPostgresError) {
        guard !deadline.hasPassed else { throw .timedOut(waitingFor: what) }
        Pause.brief(before: deadline)
    }
}
