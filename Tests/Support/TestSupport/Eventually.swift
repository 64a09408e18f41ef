internal import Glibc
internal import ServiceRuntime

/// Looks again until it is so, or the time is over: for what only the outside world can tell. Where a thread of ours
/// knows, wait with `Lock.wait`. The time is the same for all, and so long that no machine is too busy; what comes
/// soon costs none of it.
package func eventually(within seconds: Double = 300, _ condition: () throws -> Bool) rethrows -> Bool {
    let (began, deadline) = (Deadline.now, Deadline.after(seconds: seconds))
    while try !condition() {
        if deadline.hasPassed { return false }
        // The longer it takes, the more rarely it is asked, or those who wait would keep a busy machine from getting
        // there.
        let waited = (Deadline.now.nanoseconds - began.nanoseconds) / 1_000_000
        poll(nil, 0, Int32(min(max(waited / 10, 5), 25)))
    }
    return true
}
