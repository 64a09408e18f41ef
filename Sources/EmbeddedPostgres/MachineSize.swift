internal import Glibc

/// What there is to share out: memory for caches, disk for the write-ahead log.
struct MachineSize: Equatable, Sendable {
    /// Bytes of memory that this process and its neighbours may use, control group limits included.
    var memory: Int
    /// Bytes free on the disk of the data.
    var freeDisk: Int
    /// Bytes that parallel queries may share through /dev/shm; containers often have just 64 MiB.
    var sharedMemoryDisk: Int

    static func measured(at path: String) -> MachineSize {
        MachineSize(
            memory: memoryLimit(), freeDisk: freeBytes(at: path), sharedMemoryDisk: freeBytes(at: "/dev/shm"))
    }

    private static func memoryLimit() -> Int {
        let total =
            (TextFile.read("/proc/meminfo") ?? "").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
            .flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Int($0) }
            .map { $0 * 1024 }
        // Version 2 of control groups, then version 1; "max" and absurdly large numbers mean no limit.
        let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"].compactMap { path in
            TextFile.read(path).flatMap { Int($0.filter { !$0.isWhitespace }) }
        }
        return ([total ?? 1 << 30] + limits).min()!
    }

    private static func freeBytes(at path: String) -> Int {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return 0 }
        return Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize)
    }
}
