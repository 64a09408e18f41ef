package import Glibc

/// How every process of ours starts another one. It gets a process group of its own, so that Ctrl-C at the terminal
/// does not reach it, no signal mask, no handler, and no open file but its standard streams and those that are named.
package struct ChildStart {
    /// The words of its command line, the first of which is its name.
    package var words: [String]
    /// All of its variables, `NAME=value`.
    package var environment: [String]
    /// What its standard input comes from; nothing if nil.
    package var input: Int32?
    /// What its standard output and standard error go to; those of this process if nil.
    package var output: Int32?
    /// Open files that it gets under the same numbers.
    package var inherited: [Int32] = []

    /// The operating system did not start it.
    package struct Failure: Error {
        package let code: Int32
    }

    package init(_ words: [String], environment: [String]) { (self.words, self.environment) = (words, environment) }

    /// Starts the program at this path, and returns the number of its process.
    package func run(_ program: String) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        // A file duplicated onto its own number loses close-on-exec.
        for file in inherited { unsafe posix_spawn_file_actions_adddup2(&actions, file, file) }
        // One that lives on must not hold files that we inherited without close-on-exec.
        for file in OpenFiles.descriptors where file > 2 && !inherited.contains(file) {
            unsafe posix_spawn_file_actions_addclose(&actions, file)
        }

        var signals = sigset_t()
        unsafe sigfillset(&signals)
        var attributes = Self.attributes(handling: signals, flags: POSIX_SPAWN_SETPGROUP)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var process: pid_t = 0
        let code = unsafe Self.withCStrings(words) { words in
            unsafe Self.withCStrings(environment) { environment in
                unsafe posix_spawn(&process, program, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else { throw Failure(code: code) }
        return process
    }

    /// For a process that begins without a signal mask, and that these signals end as they end any program. The caller
    /// destroys them.
    package static func attributes(handling signals: sigset_t, flags: Int32 = 0) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        var (none, signals) = (sigset_t(), signals)
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags))
        return attributes
    }

    /// Passes null-terminated strings in a null-terminated array, as exec needs them.
    private static func withCStrings<Result>(
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
}
