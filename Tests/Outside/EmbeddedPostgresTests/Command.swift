import EmbeddedPostgres
import Foundation
import ServiceRuntime

/// Another program, run as people run it.
struct Command {
    struct Failure: Error { let output: String }

    let status: Int32
    let output: String

    /// What it printed, if it ended well.
    func trusted() throws -> String {
        guard status == 0 else { throw Failure(output: output) }
        return output.trimmingCharacters(in: .newlines)
    }

    static func run(_ arguments: [String], as user: String? = nil) throws -> Command {
        let (process, pipe) = try start(arguments, as: user)
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Command(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }

    static func start(_ arguments: [String], as user: String? = nil) throws -> (Process, Pipe) {
        let process = Process()
        let pipe = Pipe()
        let switching = user.map { ["/usr/sbin/runuser", "-u", $0, "--"] }
        let all = (switching ?? []) + arguments
        process.executableURL = URL(fileURLWithPath: all[0])
        process.arguments = Array(all.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        return (process, pipe)
    }

    static func psql(_ url: String, _ query: String, as user: String? = nil) throws -> Command {
        try run([psqlPath(), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", query, url], as: user)
    }

    static func psqlPath() throws -> String {
        try PostgresInstallation.all(deadline: .after(seconds: 60))[0].program("psql")
    }
}
