internal import Glibc
internal import ServiceRuntime

/// Lets go of what a command holds when somebody presses Ctrl-C, then ends the process as that signal would have.
final class Interruption: Sendable {
    init(_ cleanUp: @escaping @Sendable () -> Void) {
        Signals.prepare()
        _ = Worker(name: "signals") {
            let name = Signals.waitForStop()
            Signals.letTheNextOneKill()
            cleanUp()
            exit(name == "SIGINT" ? 130 : 143)
        }
    }
}
