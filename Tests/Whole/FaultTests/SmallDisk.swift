import Foundation
import TestSupport
import Testing

/// A file system of its own, in memory.
final class SmallDisk {
    /// Whether this machine lets us make one.
    static let isAllowed = SmallDisk(kilobytes: 100) != nil

    private let scratch = TemporaryDirectory()

    init?(kilobytes: Int) {
        let words = ["mount", "-t", "tmpfs", "-o", "mode=0755,size=\(kilobytes)k", "tmpfs", scratch.path]
        guard let ended = try? ChildProcess.run(words), ended.status == 0 else { return nil }
    }

    deinit { _ = try? ChildProcess.run(["umount", "-l", scratch.path]) }

    func path(_ name: String) -> String { scratch(name) }

    func forbidWriting() throws {
        let ended = try ChildProcess.run(["mount", "-o", "remount,ro", scratch.path])
        #expect(ended.status == 0, "\(ended)")
    }

    /// Takes all the room that is left.
    func fill() {
        let file = open(path("ballast"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 64 << 10)
        // Less and less at a time, until not one byte goes in.
        var size = block.count
        while size > 0 { if write(file, block, size) <= 0 { size /= 2 } }
    }

    /// Gives it back.
    func free() { unlink(path("ballast")) }
}
