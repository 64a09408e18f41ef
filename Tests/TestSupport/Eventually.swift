internal import Glibc
internal import ServiceRuntime

/// Looks again until it is so, or the time is over: for what only the outside world can tell. Where a thread of ours
/// knows, wait with `Lock.wait`.
package func eventually(within seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Deadline.after(seconds: seconds)
    while try !condition() {
        if deadline.hasPassed { return false }
        poll(nil, 0, 5)
    }
    return true
}
