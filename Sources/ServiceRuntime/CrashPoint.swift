#if DEBUG
internal import Glibc
#endif

/// A named place in this program. In a debug build, the process can be told to kill itself there, so that a test sees
/// what a crash at this place leaves behind. A release build contains no trace of it.
///
/// It is the only public type here: otherwise, the compiler would leave an empty call in a release build.
public enum CrashPoint {
    /// Marks a place. `BELLWETHER_DIE_AT=copied:3` kills the process when it passes `copied` for the third time.
    @inlinable public static func pass(_ name: StaticString) {
        #if DEBUG
        arrive(at: name)
        #endif
    }

    #if DEBUG
    /// Where to die, and how many more times to pass that place first.
    private static let death: (name: String, left: Lock<Int>)? = {
        guard let text = unsafe getenv("BELLWETHER_DIE_AT") else { return nil }
        let parts = unsafe String(cString: text).split(separator: ":")
        guard let name = parts.first else { return nil }
        return (String(name), Lock(parts.count > 1 ? Int(parts[1]) ?? 1 : 1))
    }()

    @usableFromInline static func arrive(at name: StaticString) {
        guard let death, death.name == name.description else { return }
        let isTime = death.left.withLock { left in
            left -= 1
            return left == 0
        }
        if isTime { kill(getpid(), SIGKILL) }
    }
    #endif
}
