internal import Glibc

/// The signals a service lives with.
package enum Signals {
    /// To be called first thing in `main`: threads made later inherit it. A peer that hangs up must not kill us, and a
    /// request to stop is waited for, not interrupted by.
    package static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        var stop = stopSet()
        unsafe pthread_sigmask(SIG_BLOCK, &stop, nil)
    }

    /// Waits until somebody asks the process to stop, and says how.
    package static func waitForStop() -> String {
        var stop = stopSet()
        var number: Int32 = 0
        while unsafe sigwait(&stop, &number) != 0 {}
        return number == SIGINT ? "SIGINT" : "SIGTERM"
    }

    /// From now on the next one kills, as if we had never asked: for people who press Ctrl-C twice.
    package static func letTheNextOneKill() {
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        var stop = stopSet()
        unsafe pthread_sigmask(SIG_UNBLOCK, &stop, nil)
    }

    /// As it was before `prepare`: for a program that takes over this process.
    package static func restore() {
        signal(SIGPIPE, SIG_DFL)
        letTheNextOneKill()
    }

    private static func stopSet() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGTERM)
        return set
    }
}
