internal import Glibc

/// Tells a process that the one that started it is gone, whatever ended that one: the kernel closes what it held.
package final class Lifeline: Sendable {
    /// The end that the other process gets.
    package let theirs: Int32
    private let ours: Int32

    /// Nil if the operating system has no file left.
    package init?() {
        var ends: [Int32] = [-1, -1]
        // A socket pair, because pipe2(2) needs _GNU_SOURCE, and no other child may inherit the end that is ours.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        (ours, theirs) = (ends[0], ends[1])
    }

    deinit {
        close(ours)
        close(theirs)
    }

    /// In the other process: asks this process to stop as an operator would, when the first one is gone. If it has not
    /// stopped after so many seconds, it ends.
    package static func follow(_ descriptor: Int32, patience seconds: Double, whenCut: @escaping @Sendable () -> Void) {
        _ = Worker(name: "lifeline") {
            var byte: UInt8 = 0
            while unsafe read(descriptor, &byte, 1) != 0 {
                if errno != EINTR { break }
            }
            whenCut()
            kill(getpid(), SIGTERM)
            _ = Lock(()).wait(until: .after(seconds: seconds)) { _ in Bool?.none }
            _exit(1)
        }
    }
}
