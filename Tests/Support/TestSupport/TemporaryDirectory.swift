internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// A directory that any user may pass through, gone when nobody holds it any more.
package final class TemporaryDirectory: Sendable {
    static let prefix = "bw-scratch-"

    /// Where they may be. A new database is 1,000 files, and to make and remove them costs a disk's file system as much
    /// as all else together, so memory comes first, if it has room.
    static let homes = ["/dev/shm", "/tmp"]
    static let quickHome = homes.first { freeBytes(in: $0) > 4 << 30 } ?? "/tmp"

    /// Long runs write more than memory holds, and their syncs must be real.
    private static let isLongRun = ["BELLWETHER_FAULT_SECONDS", "BELLWETHER_SOAK_SECONDS"].contains {
        ProcessInfo.processInfo.environment[$0] != nil
    }
    private static let home = isLongRun ? "/tmp" : quickHome

    private static func freeBytes(in directory: String) -> UInt {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? status.f_bavail * status.f_frsize : 0
    }

    package let path: String

    private static let serial = Lock(0)

    package init() {
        Leftovers.sweepOnce()
        let number = Self.serial.withLock { serial in
            serial += 1
            return serial
        }
        path = "\(Self.home)/\(Self.prefix)\(getpid())-\(number)"
        mkdir(path, 0o755)
        chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path in it.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }
}
