import Foundation
import Testing

@testable import ServiceRuntime

@Suite("How much memory there is")
struct MachineMemoryTests {
    @Test(
        "the least of the machine's, of its control group's and of those around it",
        arguments: [
            ([:], 8_192_000), (["sys/fs/cgroup/memory.max": "536870912\n"], 8_192_000),
            (["sys/fs/cgroup/memory.max": "max\n"], 8_192_000), (["sys/fs/cgroup/memory.max": "4194304\n"], 4_194_304),
            (["sys/fs/cgroup/memory/memory.limit_in_bytes": "4000000\n"], 4_000_000),
            (["sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"], 8_192_000),
            (
                [
                    "proc/self/cgroup": "0::/system.slice/bellwether.service\n",
                    "sys/fs/cgroup/system.slice/bellwether.service/memory.max": "3000000\n",
                    "sys/fs/cgroup/system.slice/memory.max": "2000000\n",
                ], 2_000_000
            ),
        ] as [([String: String], Int)])
    func least(files: [String: String], limit: Int) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "memory-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, text) in files.merging(
            ["proc/meminfo": "MemTotal:        8000 kB\nMemFree: 1 kB\n"], uniquingKeysWith: { $1 })
        {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        #expect(MachineMemory.limit(root: root.path) == limit)
    }

    @Test("this machine has some")
    func present() {
        #expect(MachineMemory.limit > 64 << 20)
    }
}
