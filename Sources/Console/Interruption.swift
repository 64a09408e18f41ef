internal import Glibc
internal import ServiceRuntime

/// Lets go of what a command holds when somebody presses Ctrl-C, then ends the process as that signal would have.
package final class Interruption: Sendable {
    private static let isUnderway = Lock(false)

    package init(_ cleanUp: @escaping @Sendable () -> Void) {
        Signals.prepare()
        _ = Worker(name: "signals") {
            let name = Signals.waitForStop()
            Self.isUnderway.withLock { $0 = true }
            Signals.letTheNextOneKill()
            cleanUp()
            exit(name == "SIGINT" ? 130 : 143)
        }
    }

    /// For a command that has ended: what it lost by the interruption is no news, and the exit code is the signal's.
    static func giveWay() {
        guard isUnderway.withLock({ $0 }) else { return }
        while true { pause() }
    }
}
