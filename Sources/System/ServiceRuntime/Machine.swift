internal import Glibc

/// How much memory there is for this process and its neighbours.
package enum MachineMemory {
    /// In bytes: the machine's memory, or less if a control group has a limit (in a container or a systemd unit).
    package static var limit: Int { limit(root: "") }

    /// `root` is put before every path, for tests.
    static func limit(root: String) -> Int {
        let total =
            text(of: root + "/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
            .flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Int($0) }
            .map { $0.multipliedReportingOverflow(by: 1024).partialValue }
        // "max" and absurdly large numbers mean no limit.
        let limits = paths(root: root).compactMap { path in Int(text(of: path).filter { !$0.isWhitespace }) }
        return limits.filter { $0 > 0 }.reduce(total ?? 1 << 30, min)
    }

    /// The limits of this process's control group and of its parents: of version 2, then of version 1.
    private static func paths(root: String) -> [String] {
        let base = root + "/sys/fs/cgroup"
        let own = text(of: root + "/proc/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::/") }
        var group = own.map { $0.dropFirst(3) } ?? ""
        var paths: [String] = []
        // Much deeper than anyone nests them.
        for _ in 0..<64 {
            guard let slash = group.lastIndex(of: "/"), group.count > 1 else { break }
            paths.append(base + group + "/memory.max")
            group = group[..<slash]
        }
        return paths + [base + "/memory.max", base + "/memory/memory.limit_in_bytes"]
    }

    private static func text(of path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }
}

/// The files and sockets that this process has open, and how many it may.
package enum OpenFiles {
    /// The numbers of those that are open now.
    static var descriptors: [Int32] {
        guard let directory = unsafe opendir("/proc/self/fd") else { return [] }
        defer { unsafe closedir(directory) }
        var numbers: [Int32] = []
        while let entry = unsafe readdir(directory) {
            // SAFETY: the name lies in the entry, null-terminated, and is copied before the next call of readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            let own = unsafe dirfd(directory)
            if let number = Int32(name), number != own { numbers.append(number) }
        }
        return numbers
    }

    /// Raises the limit towards `wanted`, as far as the system allows, and returns the new limit.
    package static func raiseLimit(to wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < rlim_t(wanted), limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
