import Foundation
import TestSupport

/// A clock that a test sets while programs run: the time of day of those that are started with it, and nothing else.
final class FakeClock: Sendable {
    /// Debian's libfaketime; nil where it is not installed.
    private static let library: String? = {
        let places = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let libraries = places.map { place in "/usr/lib/\(place)/faketime/libfaketimeMT.so.1" }
        return libraries.first { library in access(library, R_OK) == 0 }
    }()

    static let isInstalled = library != nil

    private let scratch = TemporaryDirectory()
    /// The names of what its programs share, made by the first one. If a program had to make it, its environment would
    /// move, and a Swift program would not find its arguments, which it looks for beside that.
    private let shared: String

    init() throws {
        try "+0\n".write(toFile: scratch("offset"), atomically: false, encoding: .utf8)
        let environment = FakeClock.environment(scratch("offset"))
        let first = try ChildProcess.run(["env"] + environment + ["sh", "-c", #"echo "$FAKETIME_SHARED""#])
        shared = first.output.trimmingCharacters(in: .whitespacesAndNewlines)
        // Programs of another user share it, too.
        for file in files { chmod(file, 0o666) }
        set(0)
    }

    deinit { for file in files { unlink(file) } }

    private var files: [String] {
        shared.split(separator: " ").flatMap { name in
            ["/dev/shm/\(name.dropFirst())", "/dev/shm/sem.\(name.dropFirst())"]
        }
    }

    /// Sets it so many seconds ahead of the real one, at once and for all of its programs.
    func set(_ seconds: Int) {
        try? "\(seconds < 0 ? "" : "+")\(seconds)\n".write(toFile: scratch("offset"), atomically: true, encoding: .utf8)
        chmod(scratch("offset"), 0o644)
    }

    /// What stands before the words of a program.
    var runner: [String] { ["env", "FAKETIME_SHARED=\(shared)"] + FakeClock.environment(scratch("offset")) }

    private static func environment(_ offset: String) -> [String] {
        [
            "LD_PRELOAD=\(library ?? "")", "FAKETIME_TIMESTAMP_FILE=\(offset)", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
        ]
    }
}
