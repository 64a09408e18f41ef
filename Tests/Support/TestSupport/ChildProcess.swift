internal import Foundation
package import Glibc
internal import ServiceRuntime

/// Another program, run as people run it: with its words, its environment and its standard input.
package final class ChildProcess: Sendable {
    /// How it ended and what it said.
    package struct Ended: Sendable {
        /// The exit status; 128 and the signal's number for one that was killed.
        package let status: Int32
        package let output: String
        package let messages: String
    }

    /// It could not be started or did not end.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let id: pid_t
    private let files = TemporaryDirectory()
    private let status = Lock<Int32?>(nil)

    /// Starts it. Variables that are not named are as they are here, those of this program, of libpq and of the memory
    /// of tests aside. Its standard output goes into a file, or to a descriptor of the caller.
    package init(
        _ words: [String], environment: [String: String] = [:], input: String = "", output: Int32? = nil
    ) throws {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        try input.write(toFile: files("input"), atomically: false, encoding: .utf8)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, files("input"), O_RDONLY, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, files("output"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        posix_spawn_file_actions_addopen(&actions, 2, files("messages"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let inherited = ProcessInfo.processInfo.environment.filter { name, _ in
            !name.hasPrefix("BELLWETHER_") && !name.hasPrefix("PG") && name != "GLIBC_TUNABLES"
        }
        let variables = inherited.merging(environment) { $1 }.merging([Leftovers.variable: "\(getpid())"]) { $1 }
        var arguments = words.map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var id: pid_t = 0
        let code = posix_spawnp(&id, words[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            throw Failure(description: "cannot start \(words[0]): \(String(cString: strerror(code)))")
        }
        self.id = id
    }

    deinit {
        if isRunning {
            kill(id, SIGKILL)
            _ = try? wait(within: 10)
        }
    }

    /// Runs it to its end.
    package static func run(
        _ words: [String], environment: [String: String] = [:], input: String = "", within seconds: Double = 180
    ) throws -> Ended {
        let child = try ChildProcess(words, environment: environment, input: input)
        return try child.wait(within: seconds)
    }

    /// What it has written to standard output.
    package var output: String { read("output") }

    /// What it has written to standard error.
    package var messages: String { read("messages") }

    package var isRunning: Bool { reap() == nil }

    /// Whether it stands still, as after SIGSTOP.
    package var isStopped: Bool { ProcessTable.isStopped(id) }

    /// Sends it a signal, unless it has ended.
    package func signal(_ number: Int32) {
        status.withLock { status in if status == nil { kill(id, number) } }
    }

    /// Waits for its end.
    @discardableResult
    package func wait(within seconds: Double = 180) throws -> Ended {
        guard eventually(within: seconds, { !isRunning }), let status = reap() else {
            throw Failure(description: "it did not end within \(seconds) s; it said: \(messages)")
        }
        return Ended(status: status, output: output, messages: messages)
    }

    private func reap() -> Int32? {
        status.withLock { status in
            var code: Int32 = 0
            if status == nil, waitpid(id, &code, WNOHANG) == id {
                status = code & 0x7F == 0 ? code >> 8 & 0xFF : 128 + (code & 0x7F)
            }
            return status
        }
    }

    private func read(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: files(name)) ?? Data(), as: UTF8.self)
    }
}
