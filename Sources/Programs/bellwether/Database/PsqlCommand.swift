internal import Accounts
internal import Console
internal import Glibc
internal import Health
internal import Postgres
internal import ServiceRuntime

/// Opens psql as the analyst role.
struct PsqlCommand: DatabaseCommand {
    static let words = ["psql"]
    static let summary = "Open psql as the analyst; arguments after -- go to psql"
    static let operands: [Operand<Self>] = [Operand("PSQL-ARGUMENT", \.words)]

    var database = DatabaseChoice()
    private var words: [String] = []

    /// Whether the options ask for output for programs (`-A`, `-t`, `--csv`). There null stays empty, because `·` would
    /// be data. Tables for people show `·`, as in the documents.
    static func isForPrograms(_ words: [String]) -> Bool {
        let long = ["--csv", "--no-align", "--tuples-only"]
        var words = words[...]
        while let word = words.popFirst() {
            if long.contains(word) { return true }
            guard word.hasPrefix("-"), !word.hasPrefix("--") else { continue }
            let letters = word.dropFirst()
            // One of these options has a value: the rest of the word, or the next word.
            let end = letters.firstIndex { "cdfFhLopPRTUv".contains($0) }
            if letters[..<(end ?? letters.endIndex)].contains(where: { "At".contains($0) }) { return true }
            if let end, letters.index(after: end) == letters.endIndex { words = words.dropFirst() }
        }
        return false
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log, fit: .anyVersion, interruptible: false)
        // Keep access while psql runs, because it keeps an embedded database running.
        defer { access.release() }
        try access.makeRoomForAnalyst(log: log)
        // psql handles Ctrl-C itself, to cancel a query.
        signal(SIGINT, SIG_IGN)
        let status = try Child.run(
            ["psql"] + (Self.isForPrograms(words) ? [] : ["-P", "null=·"]) + words,
            environment: ConnectionString.environment(of: access.url(for: .analyst)))
        switch status {
        case 0: return .done
        // psql's exit code for a connection that failed or broke.
        case 2: return .unavailable
        default: return .failed
        }
    }
}

/// Another program that uses the terminal while we wait.
enum Child {
    /// Runs it with our terminal and environment plus these variables; returns its exit code.
    static func run(_ arguments: [String], environment: [(name: String, value: String)]) throws -> Int32 {
        for (name, value) in environment { unsafe setenv(name, value, 1) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGPIPE] { unsafe sigaddset(&signals, signal) }
        var attributes = ChildStart.attributes(handling: signals)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var words = unsafe arguments.map { word in unsafe strdup(word) } + [nil]
        defer { unsafe words.forEach { word in unsafe free(word) } }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, arguments[0], nil, &attributes, &words, environ)
        guard code == 0 else {
            throw Failure("cannot start \(arguments[0]): is it installed? (\(unsafe String(cString: strerror(code))))")
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
