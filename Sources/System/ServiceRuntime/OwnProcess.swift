internal import Glibc

/// Another process of this program. What could end it, such as a trap that nobody knows of yet, does not end this one.
///
/// It is started as `ChildStart` says, and runs this very executable, even if the file has been replaced since.
package final class OwnProcess: Sendable {
    /// How it ended, in words.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        case code(Int32)
        case signal(Int32)

        package var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let number): Self.names[number].map { "signal \($0)" } ?? "signal \(number)"
            }
        }

        /// As a shell says it: 128 + n for signal n.
        package var status: Int32 {
            switch self {
            case .code(let code): code
            case .signal(let number): 128 + number
            }
        }

        private static let names = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGXCPU: "SIGXCPU",
        ]
    }

    /// The operating system did not start it.
    package struct Failure: Error, CustomStringConvertible {
        package let code: Int32
        package var description: String { unsafe String(cString: strerror(code)) }
    }

    private let id: pid_t
    private let ending = Lock(Ending?.none)

    /// Starts it with these words and variables; nil takes a variable away. `inheriting` are open files that it gets
    /// under the same numbers. `program` is the path of another executable of ours, run instead of this one.
    package init(
        _ words: [String], variables: [String: String?], inheriting files: [Int32] = [],
        program: String = "/proc/self/exe"
    ) throws(Failure) {
        var start = ChildStart(["bellwether"] + words, environment: Self.environment(changedBy: variables))
        start.inherited = files
        do throws(ChildStart.Failure) { id = try start.run(program) } catch { throw Failure(code: error.code) }
    }

    /// Sends it a signal, unless it has ended.
    package func send(_ signal: Int32) {
        ending.withLock { ending in if ending == nil { kill(id, signal) } }
    }

    /// Asks it to stop as an operator would, and ends it at the deadline. Another thread must be in `wait`.
    package func end(by deadline: Deadline) {
        send(SIGTERM)
        if ending.wait(until: deadline, for: { $0 }) == nil { send(SIGKILL) }
    }

    /// Returns when it has ended. Call it from one thread.
    package func wait() -> Ending {
        // The number of a process that has ended stays its own until it is reaped, which nobody else may see halfway.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0 {
            guard errno == EINTR else { break }
        }
        return ending.withLockNotifying { ending in
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            let found = signal == 0 ? Ending.code((status >> 8) & 0xFF) : .signal(signal)
            ending = found
            return found
        }
    }

    /// The variables of this process with changes.
    private static func environment(changedBy changes: [String: String?]) -> [String] {
        var kept: [String] = []
        var next = unsafe environ
        // SAFETY: `environ` is an array of C strings with nil at its end, and this program changes no variable after
        // its start.
        while let variable = unsafe next.pointee {
            let text = unsafe String(cString: variable)
            if changes[String(text.prefix { $0 != "=" })] == nil { kept.append(text) }
            unsafe next += 1
        }
        return kept + changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
    }
}
