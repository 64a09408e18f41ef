internal import Foundation
internal import Glibc

/// What test processes that were killed have left behind.
enum Leftovers {
    /// Stands in the environment of every process that a test starts, and names the test process.
    static let variable = "BELLWETHER_TESTS_OF"

    private static let swept: Void = {
        sweep()
        // The test runner leaves by exit(3) and destroys no static, nor what statics hold.
        atexit { Leftovers.removeFiles(of: { $0 == getpid() }) }
    }()

    /// Ends their processes and takes their files away, once in a process; and our own files when we leave.
    static func sweepOnce() { _ = swept }

    private static func sweep() {
        for process in ProcessTable.all {
            guard let owner = ProcessTable.environment(of: process)[variable].flatMap({ pid_t($0) }) else { continue }
            if isGone(owner) { kill(process, SIGKILL) }
        }
        removeFiles(of: isGone)
    }

    private static func removeFiles(of owners: (pid_t) -> Bool) {
        for home in TemporaryDirectory.homes {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
            where name.hasPrefix(TemporaryDirectory.prefix) {
                let owner = name.dropFirst(TemporaryDirectory.prefix.count).prefix { $0.isNumber }
                guard let owner = pid_t(owner), owners(owner) else { continue }
                try? FileManager.default.removeItem(atPath: "\(home)/\(name)")
            }
        }
    }

    private static func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }
}
