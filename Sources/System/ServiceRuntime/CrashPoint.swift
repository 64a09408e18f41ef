#if DEBUG
internal import Glibc
#endif

/// A named place in this program. In a debug build, the process can be told to kill itself there, so that a test sees
/// what a crash at this place leaves behind, or to stop there until somebody lets it go on. A release build contains no
/// trace of it.
///
/// It is the only public type here: otherwise, the compiler would leave an empty call in a release build.
public enum CrashPoint {
    /// Marks a place. `BELLWETHER_DIE_AT=copied:3` kills the process when it passes `copied` for the third time;
    /// with `BELLWETHER_STOP_AT` it stops there.
    @inlinable public static func pass(_ name: StaticString) {
        #if DEBUG
        arrive(at: name)
        #endif
    }

    #if DEBUG
    /// What to do at which place, and how many more times to pass it first.
    private struct Order: Sendable {
        let name: String
        let left: Lock<Int>
        let signal: Int32

        init?(_ variable: String, signal: Int32) {
            guard let text = unsafe getenv(variable) else { return nil }
            let parts = unsafe String(cString: text).split(separator: ":")
            guard let name = parts.first else { return nil }
            self.name = String(name)
            left = Lock(parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
            self.signal = signal
        }
    }

    private static let orders = [
        Order("BELLWETHER_DIE_AT", signal: SIGKILL), Order("BELLWETHER_STOP_AT", signal: SIGSTOP),
    ].compactMap(\.self)

    @usableFromInline static func arrive(at name: StaticString) {
        for order in orders where order.name == name.description {
            let isTime = order.left.withLock { left in
                left -= 1
                return left == 0
            }
            // To this thread, so that it does not get a step further.
            if isTime { raise(order.signal) }
        }
    }
    #endif
}
