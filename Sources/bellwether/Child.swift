internal import Console
internal import Glibc

/// Another program that takes over the terminal while we wait.
enum Child {
    /// Runs it with our terminal, our environment and these variables added; gives its exit code.
    static func run(_ arguments: [String], environment: [(name: String, value: String)]) throws -> Int32 {
        for (name, value) in environment { unsafe setenv(name, value, 1) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe arguments.map { word in unsafe strdup(word) } + [nil]
        defer { unsafe words.forEach { word in unsafe free(word) } }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, arguments[0], nil, &attributes, &words, environ)
        guard code == 0 else {
            throw Failure(
                "cannot start \(arguments[0]): is it installed? (\(unsafe String(cString: strerror(code))))")
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
