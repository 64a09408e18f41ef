internal import Glibc
internal import ServiceRuntime

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
            memory: MachineMemory.limit, freeDisk: freeBytes(at: path), sharedMemoryDisk: freeBytes(at: "/dev/shm"))
    }

    private static func freeBytes(at path: String) -> Int {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return 0 }
        return Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize)
    }
}
