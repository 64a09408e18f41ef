internal import Glibc

/// A named operating-system thread that runs one function to its end.
///
/// Blocking C calls run on workers, never on Swift's cooperative pool, which has only one thread per core.
package final class Worker: @unchecked Sendable {
    // SAFETY: `thread` is written before anyone else sees this object. After that, only `join` reads it, and `joined`
    // lets only one caller do so.
    private var thread = pthread_t()
    private let joined = Lock(false)

    /// Starts at once. `name` is what `top` and debuggers show (at most 15 bytes are kept). With a `niceness` above 0,
    /// the thread yields the processor to others (nice(1), which on Linux applies to each thread).
    package init(name: String, niceness: Int = 0, _ body: @escaping @Sendable () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: Worker.shortened(name), niceness: niceness, body: body))
        let status = unsafe pthread_create(&thread, nil, Worker.main, start.toOpaque())
        precondition(status == 0, "the operating system did not give a thread for \(name): error \(status)")
    }

    deinit {
        // Nobody can join it any more. Its memory is freed when it ends.
        if !joined.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits for the function to return. Safe to call again, and from several threads: all of them wait.
    package func join() {
        joined.withLock { joined in
            if !joined { pthread_join(thread, nil) }
            joined = true
        }
    }

    /// The part of a name that the kernel keeps: 15 bytes, without half a character.
    private static func shortened(_ name: String) -> String {
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in name.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= 15 else { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    private final class Start: Sendable {
        let name: String
        let niceness: Int
        let body: @Sendable () -> Void
        init(name: String, niceness: Int, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.niceness = niceness
            self.body = body
        }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        // SAFETY: the pointer is the `Start` that `init` retained for exactly this call.
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        nameThisThread(start.name)
        // 0 means the calling thread. A thread may always become nicer.
        if start.niceness > 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Int32(start.niceness)) }
        start.body()
        return nil
    }

    /// Writes to `comm`, because pthread_setname_np needs _GNU_SOURCE, which Swift's Glibc does not set.
    private static func nameThisThread(_ name: String) {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = unsafe write(file, name, name.utf8.count)
        close(file)
    }
}
