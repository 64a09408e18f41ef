#if DEBUG
internal import Glibc
#endif

/// A named place in the work of this program. In a debug build the process kills itself there when it is told to, so that
/// a test can see what a death at just this place leaves behind; in a release build there is nothing of it.
///
/// Public as nothing else here is: of what is not, the compiler would leave an empty call in a release build.
public enum CrashPoint {
    /// Passes one. `BELLWETHER_DIE_AT=copied:3` dies where `copied` is passed for the third time.
    @inlinable public static func pass(_ name: StaticString) {
        #if DEBUG
        arrive(at: name)
        #endif
    }

    #if DEBUG
    /// Where to die, and how often that is still passed alive.
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
