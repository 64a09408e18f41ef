internal import Glibc

/// The signals a service lives with.
package enum Signals {
    /// To be called first thing in `main`: threads made later inherit it. A peer that hangs up must not kill us, and a
    /// request to stop is waited for, not interrupted by. So is SIGHUP, where it has the process read something anew.
    package static func prepare(withReload: Bool = false) {
        signal(SIGPIPE, SIG_IGN)
        var set = stopSet()
        if withReload { unsafe sigaddset(&set, SIGHUP) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits until somebody asks the process to stop, and says how. Calls `reload` for each SIGHUP before, but for that with
    /// which a terminal goes away: that one asks to stop.
    package static func waitForStop(reload: (() -> Void)? = nil) -> String {
        var set = stopSet()
        if reload != nil { unsafe sigaddset(&set, SIGHUP) }
        let hadTerminal = StandardStream.error.isTerminal
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0 else { continue }
            switch number {
            case SIGHUP where hadTerminal && !StandardStream.error.isTerminal: return "SIGHUP"
            case SIGHUP: reload?()
            default: return number == SIGINT ? "SIGINT" : "SIGTERM"
            }
        }
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
