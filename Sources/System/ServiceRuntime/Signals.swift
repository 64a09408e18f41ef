internal import Glibc

/// The signals that a service handles.
package enum Signals {
    /// Call it first in `main`, because later threads inherit it. A peer that hangs up must not kill us. Requests to
    /// stop are waited for and interrupt nothing; so is SIGHUP if it means a reload.
    package static func prepare(withReload: Bool = false) {
        signal(SIGPIPE, SIG_IGN)
        var set = stopSet()
        if withReload { unsafe sigaddset(&set, SIGHUP) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits until somebody asks the process to stop, and returns which signal it was. Before that, calls `reload` for
    /// each SIGHUP, except when the terminal goes away: that SIGHUP means stop.
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

    /// From now on, the next signal kills the process as usual, for people who press Ctrl-C twice.
    package static func letTheNextOneKill() {
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        var stop = stopSet()
        unsafe pthread_sigmask(SIG_UNBLOCK, &stop, nil)
    }

    private static func stopSet() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGTERM)
        return set
    }
}
