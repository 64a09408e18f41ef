internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// A directory that any user may pass through, gone when nobody holds it any more.
package final class TemporaryDirectory: Sendable {
    /// Where such directories may be, and the clusters of tests. Tests make and drop hundreds of databases of hundreds of files, most
    /// of which cost a disk's file system more than PostgreSQL, so memory comes first, if it has room.
    static let homes = ["/dev/shm", "/tmp"]

    static let home = homes.first { freeBytes(in: $0) > 4 << 30 } ?? "/tmp"

    private static func freeBytes(in directory: String) -> UInt {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? status.f_bavail * status.f_frsize : 0
    }

    static let prefix = "bellwether-scratch-"

    package let path: String

    private static let serial = Lock(0)

    package init() {
        Leftovers.sweepOnce()
        let number = TemporaryDirectory.serial.withLock { serial in
            serial += 1
            return serial
        }
        path = "\(TemporaryDirectory.home)/\(TemporaryDirectory.prefix)\(getpid())-\(number)"
        mkdir(path, 0o755)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path in it.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }
}
