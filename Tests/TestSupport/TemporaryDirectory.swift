internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// A directory under /tmp that any user may pass through, gone when nobody holds it any more.
package final class TemporaryDirectory: Sendable {
    static let prefix = "bellwether-scratch-"

    package let path: String

    private static let serial = Lock(0)

    package init() {
        Leftovers.sweepOnce()
        let number = TemporaryDirectory.serial.withLock { serial in
            serial += 1
            return serial
        }
        path = "/tmp/\(TemporaryDirectory.prefix)\(getpid())-\(number)"
        mkdir(path, 0o755)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path in it.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }
}
