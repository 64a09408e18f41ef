internal import Foundation
package import Glibc

/// The real binary, as it lies beside the test bundle, at work on one database.
package struct Bellwether: Sendable {
    /// What stands before its words, to run it as somebody else.
    package var runner: [String] = []
    /// What is run: a copy, for somebody who may not reach the place where it was built.
    package var binary = Bellwether.path
    private var environment: [String: String]
    /// Its data directory, where the database is the embedded one.
    package let data: String?

    /// On the embedded database of a data directory.
    package init(data: String) {
        environment = ["BELLWETHER_DATA": data]
        // Its server has many connections, too: see Tests/run.
        environment["GLIBC_TUNABLES"] = ProcessInfo.processInfo.environment["GLIBC_TUNABLES"]
        self.data = data
    }

    /// On the database of a URL, or on none that is named.
    package init(database url: String?) {
        environment = url.map { ["BELLWETHER_DATABASE_URL": $0] } ?? [:]
        data = nil
    }

    package init(_ database: TestDatabase) throws { self.init(database: try database.url()) }

    /// The same with more variables.
    package func knowing(_ variables: [String: String]) -> Bellwether {
        var knowing = self
        knowing.environment.merge(variables) { $1 }
        return knowing
    }

    /// The same, killing itself where it passes a crash point for the so-manieth time.
    package func dying(at point: String, time: Int = 1) -> Bellwether {
        var dying = self
        dying.environment["BELLWETHER_DIE_AT"] = "\(point):\(time)"
        return dying
    }

    /// The same, stopping where it passes a crash point for the so-manieth time, until it is told to go on.
    package func stopping(at point: String, time: Int = 1) -> Bellwether {
        var stopping = self
        stopping.environment["BELLWETHER_STOP_AT"] = "\(point):\(time)"
        return stopping
    }

    package static let path: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/bellwether"
    }()

    /// Runs a command to its end.
    package func run(_ words: String..., input: String = "", within seconds: Double = 180) throws -> ChildProcess.Ended
    {
        try start(words, input: input).wait(within: seconds)
    }

    /// Runs a command on a terminal of its own; what stands on it is its output.
    package func onTerminal(_ words: String...) throws -> ChildProcess.Ended {
        let line = (runner + [binary] + words).map { "'\($0)'" }.joined(separator: " ")
        return try ChildProcess.run(["script", "-qec", line, "/dev/null"], environment: environment)
    }

    /// Starts a command. Its standard output goes into a file, or to a descriptor of the caller.
    package func start(_ words: [String], input: String = "", output: Int32? = nil) throws -> ChildProcess {
        try ChildProcess(runner + [binary] + words, environment: environment, input: input, output: output)
    }

    /// Runs a command that must go well, and gives what it printed.
    package func trusted(_ words: String..., input: String = "") throws -> String {
        let ended = try start(words, input: input).wait()
        guard ended.status == 0 else {
            throw ChildProcess.Failure(description: "\(words) ended with \(ended.status): \(ended.messages)")
        }
        return ended.output
    }

    /// Starts the service on a free port, or where `--listen` says, and waits until it is ready.
    package func serve(_ words: String..., waitsUntilReady: Bool = true) throws -> RunningService {
        try serve(words, waitsUntilReady: waitsUntilReady)
    }

    /// Starts the service on a free port, or where `--listen` says, and waits until it is ready.
    package func serve(_ words: [String], waitsUntilReady: Bool = true) throws -> RunningService {
        let listen = words.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        let service = try RunningService(
            start(["serve"] + listen + words), doors: words.contains("--metrics-listen") ? 2 : 1)
        if waitsUntilReady { try service.waitUntilReady() }
        return service
    }

    /// The process id of the embedded database's server.
    package var postmaster: pid_t? { lockFile?.first.flatMap { pid_t($0) } }

    /// A URL of the embedded database for the owner, which asks nobody to start or keep it.
    package var url: String? {
        guard let lines = lockFile, lines.count > 4 else { return nil }
        let directory = lines[4].replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://bellwether_owner@\(directory):\(lines[3])/bellwether"
    }

    /// The same for who may do anything.
    package var superuserURL: String? {
        url?.replacingOccurrences(of: "//bellwether_owner@", with: "//bellwether@")
    }

    private var lockFile: [String]? {
        guard let data, let text = try? String(contentsOfFile: data + "/pg/data/postmaster.pid", encoding: .utf8) else {
            return nil
        }
        return text.components(separatedBy: "\n")
    }
}
